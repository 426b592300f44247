import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isPrivateDir } from '../../../runner-core/platform/win32-security.ts';
import {
  isAlive,
  js,
  lives,
  logOf,
  metaOf,
  pidsOf,
  ready,
  reasonOf,
  recordPath,
  settled,
  waitsFor,
} from './jobs.ts';
import { eventually } from './patience.ts';
import { scenario } from './scenario.ts';
import { textOf } from './temp-base.ts';

scenario('start prints the id alone, and the job goes on to its result', async (temp) => {
  const job = await temp.start(js("fs.writeFileSync('out.txt','the result')"), ['--result-path', 'out.txt']);
  equal(await temp.ask('wait', job.id), '0 "done\\n"');
  equal(await temp.ask('result', job.id), '0 "the result"');
});

scenario(
  'the directory of a settled job holds the records of the contract, private, and nothing else',
  async (temp) => {
    const job = await temp.start(js('say(1)'));
    equal(await settled(job), 'done');
    await eventually(() => readdirSync(job.dir).length === 6);
    deepEqual(readdirSync(job.dir).sort(), [
      'meta.json',
      'out.log',
      'outcome.json',
      'pid',
      'reason',
      'status',
    ]);
    for (const path of [temp.base, job.dir]) ok(isPrivateDir(path), `${path} is private`);
    const pids = pidsOf(job);
    equal(pids.job_name, `Local\\ce-peer-job-${job.id}`);
    match(pids.supervisor_identity, /^\d{17,19} [A-Z]:\\.*node\.exe$/i);
    match(pids.worker_identity, /^\d{17,19} [A-Z]:\\.*node\.exe$/i);
    equal(pids.detachment, 'free');
  },
);

scenario('meta.json tells what was asked for, and holds no value of the environment', async (temp) => {
  const flags = [
    '--label',
    'l',
    '--input-digest',
    'd',
    '--result-path',
    'rel/out.txt',
    '--env',
    'A=secret-1',
  ];
  const job = await temp.start(js(''), flags, { OTHER: 'secret-2' });
  await settled(job);
  const meta = metaOf(job);
  equal(meta.label, 'l');
  equal(meta.input_digest, 'd');
  equal(meta.result_path, temp.at('rel\\out.txt'));
  ok(
    !/secret-[12]/.test(
      readdirSync(job.dir)
        .map((name) => textOf(job.dir, name))
        .join(''),
    ),
  );
});

scenario('outcome.json tells exit code, times, sizes and the digest of the result', async (temp) => {
  const job = await temp.start(js("fs.writeFileSync('out.txt','0123456789');fs.writeSync(1,'log')"), [
    '--result-path',
    'out.txt',
  ]);
  equal(await settled(job), 'done');
  const outcome = JSON.parse(textOf(job.dir, 'outcome.json') ?? '');
  const digest = createHash('sha256').update('0123456789').digest('hex');
  deepEqual(
    [outcome.state, outcome.exit_code, outcome.log_bytes, outcome.result_bytes, outcome.result_sha256],
    ['done', 0, 3, 10, digest],
  );
});

scenario('an exit code other than 0 is failed, also one of 32 bits', async (temp) => {
  const job = await temp.start(js('process.exitCode=0xC0000005|0'));
  equal(await settled(job), 'failed');
  equal(reasonOf(job), 'worker exited 3221225477');
});

scenario('cwd and environment can be set for one job', async (temp) => {
  const seen = '[process.cwd(),process.env.ADDED,process.env.TAKEN,process.env.CE_PEER_JOB_ID]';
  const job = await temp.start(
    js(`say(JSON.stringify(${seen}))`),
    ['--cwd', temp.root, '--env', 'added=yes', '--unset-env', 'Taken'],
    { TAKEN: 'no' },
  );
  await settled(job);
  deepEqual(JSON.parse(logOf(job)), [temp.root, 'yes', null, job.id]);
});

scenario('a worker has one PATH, whatever its spelling, and the one set for it wins', async (temp) => {
  const names = "Object.entries(process.env).filter(([k])=>k.toUpperCase()==='PATH').map(([,v])=>v)";
  const worker = js(`say(JSON.stringify(${names}))`);
  const job = await temp.start(worker, ['--env', 'pAtH=C:\\only']);
  await settled(job);
  deepEqual(JSON.parse(logOf(job)), ['C:\\only']);
});

scenario('wait gives up after its budget, and the job runs on', async (temp) => {
  const job = await temp.start(lives);
  equal(await temp.ask('wait', '--max-secs', '0.2', job.id), '0 "running\\n"');
  equal(await temp.ask('reap', job.id), '0 ""');
});

scenario(
  'reap ends the worker, and the supervisor that watched it; again it changes nothing',
  async (temp) => {
    const job = await temp.start(lives);
    const [worker] = await ready(job);
    const { supervisor_pid } = pidsOf(job);
    equal(await temp.ask('reap', job.id), '0 ""');
    equal(await temp.ask('status', job.id), '0 "timeout\\n"');
    await eventually(() => !isAlive(worker) && !isAlive(supervisor_pid));
    const record = readFileSync(`${job.dir}\\outcome.json`, 'utf8');
    equal(await temp.ask('reap', job.id), '0 ""');
    equal(readFileSync(`${job.dir}\\outcome.json`, 'utf8'), record);
  },
);

scenario('without a root that is set, jobs lie below LOCALAPPDATA', async (temp) => {
  const env = { CE_PEER_JOBS_ROOT: undefined, LOCALAPPDATA: temp.at('local') };
  mkdirSync(env.LOCALAPPDATA);
  const { code, stdout } = await temp.cli(['start', '--skill', 's', '--run-id', 'r', '--', ...js('')], env);
  equal(code, 0);
  const id = stdout.toString('utf8').trim();
  const { stdout: word } = await temp.cli(['wait', id], env);
  equal(word.toString('utf8'), 'done\n');
  ok(existsSync(temp.at(`local\\compound-engineering-jobs\\s\\r\\jobs\\${id}\\status`)));
});

scenario('log shows the output while the job runs, and goes on from an offset', async (temp) => {
  const job = await temp.start(js(`${waitsFor('go')}say('first');until(()=>say('second'))`));
  await eventually(() => logOf(job) === 'first\n');
  equal(await temp.ask('log', job.id), '0 "first\\n"');
  temp.file('go', '');
  equal(await settled(job), 'done');
  equal(await temp.ask('log', '--offset', '6', job.id), '0 "second\\n"');
});

scenario('result prints the bytes exactly, also those that are no text', async (temp) => {
  const bytes = Buffer.from([0, 13, 10, 26, 255, 254, 13, 0, 10]);
  const worker = js(
    `fs.writeFileSync('out',Buffer.from('${bytes.toString('hex')}','hex'));fs.writeSync(1,Buffer.from('0d0a1aff','hex'))`,
  );
  const job = await temp.start(worker, ['--result-path', 'out']);
  equal(await settled(job), 'done');
  const { code, stdout } = await temp.cli(['result', job.id]);
  deepEqual([code, stdout], [0, bytes]);
  deepEqual(readFileSync(`${job.dir}\\out.log`), Buffer.from('0d0a1aff', 'hex'));
});

scenario("a result that lay there before and was not touched is not this job's", async (temp) => {
  temp.file('out', 'of an earlier job');
  const job = await temp.start(js(''), ['--result-path', 'out']);
  equal(await settled(job), 'failed');
});

scenario('list finds jobs again without their ids, newest first, and can be narrowed', async (temp) => {
  const first = await temp.start(js(''), ['--label', 'one'], {}, 'r1');
  // Ids and start times count whole seconds.
  await eventually(() => Date.now() > Date.parse(metaOf(first).started_at) + 1000);
  const second = await temp.start(js('process.exitCode=4'), ['--label', 'two'], {}, 'r2');
  await Promise.all([settled(first), settled(second)]);
  const list = async (...flags: string[]): Promise<string[]> => {
    const { stdout } = await temp.cli(['list', '--json', ...flags]);
    const rows: { job_id: string; state: string }[] = JSON.parse(stdout.toString('utf8'));
    return rows.map(({ job_id, state }) => `${job_id} ${state}`);
  };
  const [one, two] = [`${first.id} done`, `${second.id} failed`];
  deepEqual(await list(), [two, one]);
  deepEqual(await list('--label', 'one'), [one]);
  deepEqual(await list('--state', 'failed', '--run-id', 'r2'), [two]);
});

scenario("a result that was written anew is this job's, even with the same bytes", async (temp) => {
  temp.file('out', 'same');
  const job = await temp.start(js("fs.writeFileSync('out','same')"), ['--result-path', 'out']);
  equal(await settled(job), 'done');
});

scenario('remove takes a settled job away, and nothing else', async (temp) => {
  const [one, other] = [
    await temp.start(js("fs.writeFileSync('out','x')"), ['--result-path', 'out']),
    await temp.start(js('')),
  ];
  for (const job of [one, other]) equal(await settled(job), 'done');
  equal((await temp.cli(['remove', one.id])).code, 0);
  deepEqual([existsSync(one.dir), existsSync(other.dir), existsSync(temp.at('out'))], [false, true, true]);
});

scenario('remove leaves a running job alone, also one whose record cannot be read', async (temp) => {
  const running = await temp.start(lives);
  const record = readFileSync(recordPath(running));
  ok((await temp.cli(['remove', running.id])).code !== 0);
  writeFileSync(recordPath(running), '{');
  ok((await temp.cli(['remove', running.id])).code !== 0);
  writeFileSync(recordPath(running), record);
  ok(existsSync(running.dir));
  equal(await temp.ask('reap', running.id), '0 ""');
});

scenario('doctor of a machine where all is well says so, and changes nothing', async (temp) => {
  const { stdout, stderr } = await temp.cli(['doctor', '--json']);
  ok(!existsSync(temp.base));
  equal(stderr, '');
  const report: { healthy: boolean; findings: { check: string; verdict: string }[] } = JSON.parse(
    stdout.toString('utf8'),
  );
  deepEqual(
    report.findings.filter(({ verdict }) => verdict === 'problem'),
    [],
  );
  ok(report.healthy);
});
