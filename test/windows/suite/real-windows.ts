// What Wine does not have, or only pretends to have. Run by the `windows` job of the workflow.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { fixture, isAlive, js, logOf, pidsOf, ready, settled, waitsFor } from './jobs.ts';
import { runInJob } from './outer-job.ts';
import { eventually } from './patience.ts';
import { scenario } from './scenario.ts';
import { CLI } from './temp-base.ts';

const onWine = process.env.PEER_JOBS_WINE
  ? 'Wine does not do this as Windows does: run on windows-latest'
  : undefined;

const START = ['start', '--skill', 's', '--run-id', 'r'];

scenario(
  'real Windows: taskkill /T of the caller leaves its job alive',
  async (temp) => {
    const worker = js(`${waitsFor('go')}say('ready '+process.pid);until(()=>{})`);
    const [node = '', ...args] = fixture('caller.cjs', CLI, ...START, '--', ...worker);
    const caller = spawn(node, args, {
      cwd: temp.scratch,
      env: temp.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    caller.stdout.on('data', (chunk: Buffer) => {
      out += chunk;
    });
    const job = temp.job(await eventually(() => /^started (\S+)/m.exec(out)?.[1]));
    await ready(job);
    execFileSync('taskkill', ['/T', '/F', '/PID', String(caller.pid)], { stdio: 'ignore' });
    const { supervisor_pid, worker_pid } = pidsOf(job);
    deepEqual([isAlive(supervisor_pid), isAlive(worker_pid)], [true, true]);
    temp.file('go', '');
    equal(await settled(job), 'done');
  },
  onWine,
);

scenario(
  'real Windows: the base has a protected list, as icacls tells it',
  async (temp) => {
    const job = await temp.start(js(''));
    await settled(job);
    const listing = execFileSync('icacls', [temp.base], { encoding: 'utf8' });
    ok(!listing.includes('(I)'), `inherited entries: ${listing}`);
    ok(!/Everyone|BUILTIN\\Users|Authenticated Users/.test(listing), listing);
  },
  onWine,
);

scenario(
  'real Windows: a junction in place of the base aborts, and nothing is made behind it',
  async (temp) => {
    const target = temp.at('target');
    mkdirSync(target);
    symlinkSync(target, temp.base, 'junction');
    const { code, stderr } = await temp.cli([...START, '--', ...js('')]);
    equal(code, 1);
    match(stderr, /not a real directory/);
  },
  onWine,
);

scenario(
  'real Windows: a junction in place of a result is refused',
  async (temp) => {
    const target = temp.at('target');
    mkdirSync(target);
    symlinkSync(target, temp.at('link'), 'junction');
    const { code, stdout } = await temp.cli(['result', '--path', temp.at('link')]);
    deepEqual([code, stdout.length], [4, 0]);
  },
  onWine,
);

scenario(
  'real Windows: Git Bash runs a script, arguments and environment whole',
  async (temp) => {
    const script = temp.file('x.sh', 'printf "%s|" "$A" "$@"\n');
    // `*` would match the script itself, `@x.sh` take it in.
    const args = ['a b', '"q"', '$HOME', 'C:\\x\\', '*', "it's", '~', '{a,b}', '@x.sh', 'c\\\\d e', ''];
    const bare = await temp.start([script, ...args], ['--env', 'A=1']);
    equal(await settled(bare), 'done');
    equal(logOf(bare), `1|${args.join('|')}|`);
    const named = await temp.start(['bash', '-c', 'uname -s']);
    equal(await settled(named), 'done');
    match(logOf(named), /MINGW|MSYS/);
  },
  onWine,
);

scenario(
  'real Windows: a PowerShell worker has no window',
  async (temp) => {
    const job = await temp.start([
      'powershell',
      '-NoProfile',
      '-Command',
      'Write-Output ((Get-Process -Id $PID).MainWindowHandle)',
    ]);
    equal(await settled(job), 'done');
    equal(logOf(job).trim(), '0');
  },
  onWine,
);

scenario(
  'real Windows: console programs below a worker have no window to be seen, at any depth',
  async (temp) => {
    const job = await temp.start(fixture('tells-window.cjs'));
    equal(await settled(job), 'done');
    equal(logOf(job), '0 unseen\n1 unseen\n2 unseen\n');
  },
  onWine,
);

scenario(
  'real Windows: inside a job object that ends its members and lets nobody out, the record says that the job ends with it',
  async (temp) => {
    const worker = js("say('ready '+process.pid);setInterval(()=>{},1e6)");
    const id = await runInJob([CLI, ...START, '--', ...worker], temp, {
      breakawayOk: false,
      killAfterwards: false,
    });
    const job = temp.job(id);
    equal(pidsOf(job).detachment, 'ends with the job object of its caller');
    equal(await temp.ask('reap', job.id), '0 ""');
  },
  onWine,
);

scenario(
  'real Windows: growth of a log that stays open is seen, by its size',
  async (temp) => {
    const job = await temp.start(
      js('let n=0;const t=setInterval(()=>{say(n);if(++n===20)clearInterval(t)},300)'),
      ['--idle-secs', '2'],
    );
    equal(await settled(job), 'done');
  },
  onWine,
);
