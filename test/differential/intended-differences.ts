/**
 * Where we are meant to differ from the reference, all of it: what differs, why, and where the contract says so. Each is
 * held by a test to what both sides really do; anything else that differs is a bug.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { identityOf, isAlive, isAliveAs } from '../support/proc.ts';
import { fixture, sh } from '../support/programs.ts';
import { modeOf, readLog, readMeta, readPids, readStatus } from '../support/read-job.ts';
import { CliTimeout, runProgram } from '../support/run-cli.ts';
import type { Job, Play } from './play.ts';

export interface IntendedDifference {
  readonly id: string;
  readonly differs: string;
  readonly why: string;
  readonly contract: string;
  play(play: Play): Promise<void>;
  /** Beginnings of trace lines that the reference shows, and that we show. */
  readonly reference: readonly string[];
  readonly ours: readonly string[];
}

const DAY_SECS = 24 * 3600;

const withResult = (p: Play): Promise<Job> =>
  p.settledJob(fixture('writes-result.sh', 'result', 'the result', 0), ['--result-path', 'result']);

/** A call that may never end. We must not, however slow the machine is; the reference does. */
async function maybeHangs(p: Play, ...args: string[]): Promise<void> {
  try {
    await p.cliWith({ timeoutMs: p.side === 'reference' ? 4_000 : 60_000 }, ...args);
  } catch (error) {
    if (!(error instanceof CliTimeout)) throw error;
    p.say(`${args.map((arg) => p.normal(arg)).join(' ')} → hangs`);
  }
}

/** KILL to the supervisor of a job; its worker goes on. */
async function killSupervisor(job: Job): Promise<void> {
  const pid = readPids(job.dir)?.supervisor_pid ?? 0;
  process.kill(pid, 'SIGKILL');
  await eventually(() => !isAlive(pid));
}

/** A descendant that has left the worker's group, of a job that is then reaped. */
function escaped(id: string, what: string, ...fixtureArgs: [string, ...string[]]): IntendedDifference {
  return {
    id,
    differs: `a descendant that ${what} outlives the reaped job; with us it is gone before the record is there`,
    why: 'a reaped job leaves nothing running',
    contract: '§4: descendants that left the group are found and killed as well',
    async play(p) {
      const job = await p.readyJob(fixture(...fixtureArgs));
      const [, pid = 0] = await p.ready(job);
      const identity = identityOf(pid) ?? '';
      await p.cli('reap', job.id);
      await p.settled(job);
      p.say(`descendant lives: ${isAliveAs(pid, identity)}`);
      if (isAliveAs(pid, identity)) process.kill(pid, 'SIGKILL');
      await p.temp.ledger.endAll();
    },
    reference: ['descendant lives: true'],
    ours: ['descendant lives: false'],
  };
}

export const intendedDifferences: readonly IntendedDifference[] = [
  {
    id: 'name-with-line-end',
    differs: 'a skill, run id or label that ends with a line end is accepted by the reference, refused by us',
    why: 'it is none of the allowed characters; it makes a directory no look-up finds and breaks the rows of wait',
    contract: '§1: [A-Za-z0-9._-]+',
    async play(p) {
      await p.cli('start', '--skill', 's\n', '--run-id', 'r', '--', 'true');
      await p.cli('start', '--skill', 's', '--run-id', 'r\n', '--', 'true');
      await p.cli('start', '--skill', 's', '--run-id', 'r', '--label', 'l\n', '--', 'true');
      await p.temp.ledger.endAll();
    },
    reference: [
      'start --skill s\n --run-id r → 0',
      'start --skill s --run-id r\n → 0',
      'start --skill s --run-id r --label l\n → 0',
    ],
    ours: [
      'start --skill s\n --run-id r → 1',
      'start --skill s --run-id r\n → 1',
      'start --skill s --run-id r --label l\n → 1',
    ],
  },
  {
    id: 'long-label',
    differs: 'a label of 300 characters is accepted by the reference, refused by us',
    why: 'a label follows the rule of skill and run id, whose length is that of a file name',
    contract: '§1: short enough for a file name',
    async play(p) {
      const run = await p.temp.run(p.side, [
        'start',
        '--skill',
        's',
        '--run-id',
        'r',
        '--label',
        'x'.repeat(300),
        '--',
        'true',
      ]);
      p.say(`start ${run.code}`);
      await p.temp.ledger.endAll();
    },
    reference: ['start 0'],
    ours: ['start 1'],
  },
  {
    id: 'infinite-window',
    differs:
      'a window of inf is taken by the reference, and written to meta.json as Infinity, which is no JSON',
    why: 'a job without a hard window may stay for ever, and its record could not be read',
    contract: '§4: unusable values (… inf …) fall back to the default',
    async play(p) {
      for (const value of ['inf', 'Infinity', '1e999']) {
        const extra = { CE_PEER_IDLE_SECS: value, CE_PEER_HARD_SECS: value };
        const { idle, hard } = readMeta((await p.settledJob(sh('true'), [], { extra })).dir).supervision;
        p.say(`${value}: idle ${idle}, hard ${hard}`);
      }
      const job = await p.settledJob(sh('true'), [], { extra: { CROSS_MODEL_HARD_SECS: 'inf' } });
      p.say(`worker's inf: hard ${readMeta(job.dir).supervision.hard}`);
    },
    reference: [
      'inf: idle Infinity, hard Infinity',
      'Infinity: idle Infinity, hard Infinity',
      '1e999: idle Infinity, hard Infinity',
      "worker's inf: hard Infinity",
    ],
    ours: [
      'inf: idle 240, hard 1230',
      'Infinity: idle 240, hard 1230',
      '1e999: idle 240, hard 1230',
      "worker's inf: hard 1230",
    ],
  },
  {
    id: 'window-beyond-timers',
    differs: 'a window of 1e300 s is taken by the reference, the default by us',
    why: 'no timer can be set to it',
    contract: "§4: unusable values (… beyond the timer's range) fall back to the default",
    async play(p) {
      const extra = { CE_PEER_IDLE_SECS: '1e300', CE_PEER_HARD_SECS: '1e300', CE_PEER_GRACE_SECS: '1e300' };
      const { idle, hard, grace } = readMeta((await p.settledJob(sh('true'), [], { extra })).dir).supervision;
      p.say(`idle ${idle}, hard ${hard}, grace ${grace}`);
    },
    reference: ['idle 1e+300, hard 1e+300, grace 1e+300'],
    ours: ['idle 240, hard 1230, grace 5'],
  },
  {
    id: 'number-with-underscores',
    differs: 'a window of 1_000 is a thousand to the reference, unusable to us',
    why: 'that it is a number is a peculiarity of Python; the shells and skills that set these know no such number',
    contract: '§4: unusable values fall back to the default',
    async play(p) {
      const extra = { CE_PEER_IDLE_SECS: '1_000', CE_PEER_LOG_MAX_BYTES: '1_000' };
      const { idle, log_max } = readMeta((await p.settledJob(sh('true'), [], { extra })).dir).supervision;
      p.say(`idle ${idle}, log_max ${log_max}`);
    },
    reference: ['idle 1000, log_max 1000'],
    ours: ['idle 240, log_max 10485760'],
  },
  {
    id: 'foreign-base',
    differs: "a base with somebody's files in it is made 0700 by the reference, refused and left alone by us",
    why: "CE_PEER_JOBS_ROOT=$HOME must not change the mode of one's home",
    contract: '§2: one with foreign content in it is refused with a clear error, never chmod-ed',
    async play(p) {
      mkdirSync(p.temp.base);
      chmodSync(p.temp.base, 0o755);
      writeFileSync(join(p.temp.base, 'letter.txt'), '');
      await p.cli('start', '--skill', 's', '--run-id', 'r', '--', 'true');
      p.say(`mode ${modeOf(p.temp.base)}`);
      await p.temp.ledger.endAll();
    },
    reference: ['start --skill s --run-id r → 0', 'mode 0700'],
    ours: ['start --skill s --run-id r → 1 "", and says why', 'mode 0755'],
  },
  {
    id: 'sweep-of-a-live-job',
    differs: 'the reference removes an old run from under its live job, we do not',
    why: 'its result would be lost, and nobody could find or end it any more',
    contract: '§3: never one with a live job in it',
    async play(p) {
      const old = await p.readyJob(fixture('ignores-term.sh'), ['--run-id', 'old']);
      const then = Date.now() / 1000 - 2 * DAY_SECS;
      for (const path of [old.dir, dirname(old.dir), dirname(dirname(old.dir))]) utimesSync(path, then, then);
      await p.settledJob(sh('true'));
      p.say(`old run is there: ${existsSync(old.dir)}`);
      await p.temp.ledger.endAll();
    },
    reference: ['old run is there: false'],
    ours: ['old run is there: true'],
  },
  {
    id: 'sweep-of-a-young-record',
    differs: 'the reference removes a run by the age of its folder alone, we keep one whose job ended lately',
    why: 'a folder does not age anew when a job inside it ends; the result of last hour would be gone',
    contract: '§3: never one … with a record younger than that',
    async play(p) {
      const old = await p.settledJob(sh('true'), ['--run-id', 'old']);
      const then = Date.now() / 1000 - 2 * DAY_SECS;
      utimesSync(dirname(dirname(old.dir)), then, then);
      await p.settledJob(sh('true'));
      p.say(`old run is there: ${existsSync(old.dir)}`);
    },
    reference: ['old run is there: false'],
    ours: ['old run is there: true'],
  },
  {
    id: 'stale-result',
    differs:
      "a result that lay there before the start and is unchanged is the job's to the reference, not to us",
    why: 'it was written by an earlier attempt, and would be folded in as the answer of this one',
    contract:
      "§3: a result file that already existed at start and is unchanged at exit is not this job's result",
    async play(p) {
      p.temp.file('result', 'of an earlier attempt');
      const job = await p.settledJob(sh('true'), ['--result-path', 'result']);
      await p.cli('status', job.id);
      await p.cli('result', job.id);
    },
    reference: ['status <job 1> → 0 "done\\n"', 'result <job 1> → 0 "of an earlier attempt"'],
    ours: ['status <job 1> → 0 "failed\\n"', 'result <job 1> → 3 ""'],
  },
  {
    id: 'path-of-no-job',
    differs: 'any directory at all is a never-started job to the reference, no job to us',
    why: 'a mistyped path must not look like an answer',
    contract: '§6: a path is accepted only for a real job directory',
    async play(p) {
      await p.cli('status', p.temp.scratch);
      await p.cli('wait', p.temp.scratch);
      await p.cli('result', p.temp.scratch);
      await p.cli('reap', p.temp.scratch);
    },
    reference: [
      'status <temp>/scratch → 0 "never-started\\n"',
      'wait <temp>/scratch → 0 "never-started\\n"',
      'result <temp>/scratch → 3 ""',
      'reap <temp>/scratch → 0 ""',
    ],
    ours: [
      'status <temp>/scratch → 1 "", and says why',
      'wait <temp>/scratch → 1 "", and says why',
      'result <temp>/scratch → 1 "", and says why',
      'reap <temp>/scratch → 1 "", and says why',
    ],
  },
  {
    id: 'unknown-among-others',
    differs: 'one unknown job makes the reference print nothing at all; we print the rows of the others',
    why: 'the caller still needs to know how the others stand',
    contract: "§6: one unknown id does not hide the others' rows (exit 1 stays)",
    async play(p) {
      const one = await p.settledJob(sh('true'));
      const two = await p.settledJob(sh('false'));
      await p.cli('status', one.id, 'nope', two.id);
      await p.cli('wait', 'nope', one.id, two.id);
    },
    reference: [
      'status <job 1> nope <job 2> → 1 "", and says why',
      'wait nope <job 1> <job 2> → 1 "", and says why',
    ],
    ours: [
      'status <job 1> nope <job 2> → 1 "<job 1>\\tdone\\n<job 2>\\tfailed\\n", and says why',
      'wait nope <job 1> <job 2> → 1 "<job 1>\\tdone\\n<job 2>\\tfailed\\n", and says why',
    ],
  },
  {
    id: 'unknown-in-json',
    differs:
      'with --json, too, one unknown job makes the reference print nothing; we print the rows of the others',
    why: 'the caller still needs to know how the others stand',
    contract: "§6: one unknown id does not hide the others' rows (exit 1 stays)",
    async play(p) {
      const job = await p.settledJob(sh('true'));
      await p.cli('status', '--json', 'nope', job.id);
      await p.cli('wait', '--deadline-secs', '1000', 'nope', job.id);
    },
    reference: [
      'status --json nope <job 1> → 1 "", and says why',
      'wait --deadline-secs 1000 nope <job 1> → 1 "", and says why',
    ],
    ours: [
      'status --json nope <job 1> → 1 "[{\\"ref\\": \\"<job 1>\\", ',
      'wait --deadline-secs 1000 nope <job 1> → 1 "-\\t<job 1>\\tdone\\t<under 1 min>\\nall settled\\n", and says why',
    ],
  },
  {
    id: 'duplicates',
    differs: 'a job named twice has two rows from the reference, one from us',
    why: 'it is one job: counts of what still runs, and the list of what to reap, must not double it',
    contract: '§6: duplicates are reported once',
    async play(p) {
      const one = await p.settledJob(sh('true'));
      const two = await p.settledJob(sh('false'));
      await p.cli('status', one.id, two.id, one.id);
      await p.cli('wait', one.id, two.id, two.id, one.id);
    },
    reference: [
      'status <job 1> <job 2> <job 1> → 0 "<job 1>\\tdone\\n<job 2>\\tfailed\\n<job 1>\\tdone\\n"',
      'wait <job 1> <job 2> <job 2> <job 1> → 0 "<job 1>\\tdone\\n<job 2>\\tfailed\\n<job 2>\\tfailed\\n<job 1>\\tdone\\n"',
    ],
    ours: [
      'status <job 1> <job 2> <job 1> → 0 "<job 1>\\tdone\\n<job 2>\\tfailed\\n"',
      'wait <job 1> <job 2> <job 2> <job 1> → 0 "<job 1>\\tdone\\n<job 2>\\tfailed\\n"',
    ],
  },
  {
    id: 'two-names-of-one-job',
    differs: 'a job given by its id and by its path has two rows from the reference, one from us',
    why: 'it is one job',
    contract: '§6: duplicates are reported once',
    async play(p) {
      const job = await p.settledJob(sh('true'));
      await p.cli('status', '--json', job.id, job.dir);
    },
    reference: [
      'status --json <job 1> <temp>/base/s/r/jobs/<job 1> → 0 "[{\\"ref\\": \\"<job 1>\\", \\"job_dir\\": \\"<temp>/base/s/r/jobs/<job 1>\\", \\"state\\": \\"done\\"}, {',
    ],
    ours: [
      'status --json <job 1> <temp>/base/s/r/jobs/<job 1> → 0 "[{\\"ref\\": \\"<job 1>\\", \\"job_dir\\": \\"<temp>/base/s/r/jobs/<job 1>\\", \\"state\\": \\"done\\"}]\\n"',
    ],
  },
  {
    id: 'flags-between-jobs',
    differs: 'a flag between two jobs is a usage error to the reference, fine to us',
    why: 'a peculiarity of its parser; before and after the jobs it takes the same flag',
    contract: '§6: what a careful user would expect',
    async play(p) {
      const one = await p.settledJob(sh('true'));
      const two = await p.settledJob(sh('false'));
      await p.cli('status', one.id, '--skill=s', two.id);
    },
    reference: ['status <job 1> --skill=s <job 2> → 2 ""'],
    ours: ['status <job 1> --skill=s <job 2> → 0 "<job 1>\\tdone\\n<job 2>\\tfailed\\n"'],
  },
  {
    id: 'row-of-an-unreadable-job',
    differs: 'the row of an unreadable job has its label and time from the reference, neither from us',
    why: 'they are read from the same directory that is not to be trusted',
    contract: '§1: unreadable: content withheld',
    async play(p) {
      const job = await p.settledJob(sh('true'), ['--label', 'l']);
      writeFileSync(join(job.dir, 'status'), 'nonsense\n');
      await p.cli('wait', '--deadline-secs', '1000', job.id);
      await p.cli('wait', '--deadline-secs', '1000', '--json', job.id);
    },
    reference: [
      'wait --deadline-secs 1000 <job 1> → 0 "l\\t<job 1>\\tunreadable\\t<under 1 min>\\tstate unreadable (ownership or corruption); no result\\nall settled\\n"',
      'wait --deadline-secs 1000 --json <job 1> → 0 "{\\"jobs\\": [{\\"ref\\": \\"<job 1>\\", \\"job_dir\\": \\"<temp>/base/s/r/jobs/<job 1>\\", \\"label\\": \\"l\\", ',
    ],
    ours: [
      'wait --deadline-secs 1000 <job 1> → 0 "-\\t<job 1>\\tunreadable\\t?\\tstate unreadable (ownership or corruption); no result\\nall settled\\n"',
      'wait --deadline-secs 1000 --json <job 1> → 0 "{\\"jobs\\": [{\\"ref\\": \\"<job 1>\\", \\"job_dir\\": \\"<temp>/base/s/r/jobs/<job 1>\\", \\"label\\": \\"-\\", ',
    ],
  },
  {
    id: 'truncated-log',
    differs: 'after its log was cut short, a worker that talks is idle to the reference, alive to us',
    why: 'what it writes from then on is growth',
    contract: '§4: truncation of out.log resets the growth baseline',
    async play(p) {
      const job = await p.settledJob(fixture('truncates-log.py', 5000, 24, 0.3), [], {
        extra: { CE_PEER_IDLE_SECS: '4' },
      });
      p.say(`settled ${readStatus(job.dir)}`);
    },
    reference: ['settled timeout'],
    ours: ['settled done'],
  },
  {
    id: 'log-cut-back',
    differs: 'a log past its cap stays as large as it is with the reference, and is cut to the cap by us',
    why: 'the cap is there to spare the disk',
    contract: '§4: the file is cut back to the cap afterwards',
    async play(p) {
      const extra = { CE_PEER_LOG_MAX_BYTES: '1000' };
      const job = await p.settledJob(sh("printf '%05000d' 0; sleep 60"), [], { extra });
      p.say(`settled ${readStatus(job.dir)}, log within its cap: ${readLog(job.dir).length <= 1000}`);
    },
    reference: ['settled failed, log within its cap: false'],
    ours: ['settled failed, log within its cap: true'],
  },
  {
    id: 'log-cap-seen-at-exit',
    differs:
      'a worker that passes the log cap and exits 0 before the next poll is done to the reference, failed to us',
    why: 'the verdict must not hang on when somebody happened to look',
    contract: '§4: out.log past its cap: failed',
    async play(p) {
      const extra = { CE_PEER_LOG_MAX_BYTES: '1000', CE_PEER_POLL_SECS: '2' };
      const job = await p.settledJob(sh("sleep 0.5; printf '%05000d' 0"), [], { extra });
      p.say(`settled ${readStatus(job.dir)}`);
    },
    reference: ['settled done'],
    ours: ['settled failed'],
  },
  {
    id: 'late-reap-of-a-failure',
    differs:
      'a worker that failed and was reaped before the next poll has timed out to the reference, failed to us',
    why: 'its exit was there first, and tells more',
    contract: '§4: an exit is classified when it happens, not at the next poll',
    async play(p) {
      // Long enough that the first look of the reference is over.
      const job = await p.start(sh('sleep 2; exit 3'), [], { extra: { CE_PEER_POLL_SECS: '30' } });
      const worker = readPids(job.dir)?.worker_pid ?? 0;
      await eventually(() => !isAlive(worker));
      await p.cli('reap', job.id);
      p.say(`settled ${await p.settled(job)}`);
    },
    reference: ['settled timeout'],
    ours: ['settled failed'],
  },
  {
    id: 'torn-status',
    differs: 'an empty status keeps the reference from reaping a live worker; we kill it',
    why: 'a full disk must not make a process unreapable',
    contract: '§5: a status that is empty or torn never blocks reap from killing a live worker',
    async play(p) {
      const job = await p.readyJob(sh('echo "ready $$"; exec sleep 60'));
      const [worker] = await p.ready(job);
      writeFileSync(join(job.dir, 'status'), '');
      await p.cli('reap', job.id);
      p.say(`worker lives: ${isAlive(worker)}`);
      await p.temp.ledger.endAll();
    },
    reference: ['reap <job 1> → 4 "", and says why', 'worker lives: true'],
    ours: ['worker lives: false'],
  },
  {
    id: 'supervisor-and-worker-gone',
    differs:
      'a job whose supervisor and worker were both killed runs for ever to the reference; we record its end',
    why: 'a caller that waits must get an answer after a reboot or an OOM kill',
    contract: '§5: worker gone too: the terminal record is written from the evidence',
    async play(p) {
      const job = await p.readyJob(sh('echo "ready $$"; exec sleep 60'), ['--result-path', 'result']);
      const [worker] = await p.ready(job);
      await killSupervisor(job);
      process.kill(worker, 'SIGKILL');
      await eventually(() => !isAlive(worker));
      await p.cli('status', job.id);
      await p.cli('wait', '--max-secs', '0.5', job.id);
      const finished = await p.readyJob(sh('printf x > result; echo "ready $$"; exec sleep 60'), [
        '--result-path',
        'result',
      ]);
      const [second] = await p.ready(finished);
      await killSupervisor(finished);
      process.kill(second, 'SIGKILL');
      await eventually(() => !isAlive(second));
      await p.cli('status', finished.id);
      await p.cli('result', finished.id);
    },
    reference: [
      'status <job 1> → 0 "running\\n"',
      'wait --max-secs 0.5 <job 1> → 0 "running\\n"',
      'status <job 2> → 0 "running\\n"',
      'result <job 2> → 2 ""',
    ],
    ours: [
      'status <job 1> → 0 "died-without-result\\n"',
      'wait --max-secs 0.5 <job 1> → 0 "died-without-result\\n"',
      'status <job 2> → 0 "done\\n"',
      'result <job 2> → 0 "x"',
    ],
  },
  {
    id: 'supervisor-gone',
    differs:
      'a worker without its supervisor is watched by nobody with the reference; with us it gets a new one',
    why: 'its windows and caps must hold, and its end must be recorded',
    contract: '§5: worker alive: a new supervisor adopts it',
    async play(p) {
      const job = await p.readyJob(
        sh('echo "ready $$"; while [ ! -e go ]; do sleep 0.05; done; printf x > result'),
        ['--result-path', 'result'],
      );
      await killSupervisor(job);
      await p.cli('status', job.id);
      p.temp.file('go', '');
      await p.cli('wait', '--max-secs', p.side === 'reference' ? '2' : '20', job.id);
      await p.cli('result', job.id);
      await p.temp.ledger.endAll();
    },
    reference: [
      'status <job 1> → 0 "running\\n"',
      'wait --max-secs 2 <job 1> → 0 "running\\n"',
      'result <job 1> → 2 ""',
    ],
    ours: [
      'status <job 1> → 0 "running\\n"',
      'wait --max-secs 20 <job 1> → 0 "done\\n"',
      'result <job 1> → 0 "x"',
    ],
  },
  {
    id: 'linked-result',
    differs:
      'a result replaced by a link since the job was done is missing (3) to the reference, refused (4) by us',
    why: 'it is there, and is not to be trusted',
    contract: '§6: 4 refused (ownership, link, not regular, over cap)',
    async play(p) {
      const job = await withResult(p);
      renameSync(p.temp.at('result'), p.temp.at('elsewhere'));
      symlinkSync('elsewhere', p.temp.at('result'));
      await p.cli('result', job.id);
    },
    reference: ['result <job 1> → 3 "", and says why'],
    ours: ['result <job 1> → 4 "", and says why'],
  },
  {
    id: 'fifo',
    differs: 'the reference hangs on a FIFO in place of a record or a result; we refuse it',
    why: 'anybody who can write there could stop every caller',
    contract: '§7: FIFOs … refused at once, never hung on',
    async play(p) {
      const fifo = async (path: string): Promise<void> => {
        rmSync(path, { force: true });
        await runProgram(['mkfifo', path]);
      };
      const tampered = await withResult(p);
      await fifo(join(tampered.dir, 'status'));
      const job = await p.settledJob(fixture('writes-result.sh', 'other', 'x', 0), [
        '--result-path',
        'other',
      ]);
      await fifo(p.temp.at('other'));
      await fifo(p.temp.at('fifo'));
      const reasonless = await p.settledJob(sh('exit 1'));
      await fifo(join(reasonless.dir, 'reason'));
      const metaless = await p.settledJob(sh('true'));
      await fifo(join(metaless.dir, 'meta.json'));
      await Promise.all([
        maybeHangs(p, 'status', tampered.id),
        maybeHangs(p, 'result', job.id),
        maybeHangs(p, 'result', '--path', 'fifo'),
        maybeHangs(p, 'wait', '--deadline-secs', '1000', reasonless.id),
        maybeHangs(p, 'result', metaless.id),
      ]);
    },
    reference: [
      'status <job 1> → hangs',
      'result <job 2> → hangs',
      'result --path fifo → hangs',
      'wait --deadline-secs 1000 <job 3> → hangs',
      'result <job 4> → hangs',
    ],
    ours: [
      'status <job 1> → 0 "unreadable\\n"',
      'result <job 2> → 4 "", and says why',
      'result --path fifo → 4 "", and says why',
      'wait --deadline-secs 1000 <job 3> → 0 "-\\t<job 3>\\tfailed\\t<under 1 min>\\nall settled\\n"',
      'result <job 4> → 4 "", and says why',
    ],
  },
  escaped('escaped-setsid', 'made a session of its own', 'setsid-child.py'),
  escaped('escaped-double-fork', 'forked twice', 'double-fork-child.py'),
  escaped(
    'escaped-scrubbed',
    'forked twice and has an empty environment',
    'double-fork-scrubbed-env.py',
    'close-all',
  ),
  {
    id: 'left-behind',
    differs:
      'a descendant in its own session stays after a worker that exited; with us it goes before the record is there',
    why: 'a settled job leaves nothing running',
    contract: '§4: leftovers of a worker that exited are swept too … descendants that left the group as well',
    async play(p) {
      const job = await p.settledJob(fixture('setsid-child.py', 0));
      const [, pid = 0] = await p.ready(job);
      p.say(`settled ${readStatus(job.dir)}, descendant lives: ${isAlive(pid)}`);
      await p.temp.ledger.endAll();
    },
    reference: ['settled done, descendant lives: true'],
    ours: ['settled done, descendant lives: false'],
  },
  {
    id: 'worker-python',
    differs:
      'the reference adds CE_PEER_PYTHON, its own interpreter, to the environment of the worker; we do not',
    why: 'we are no Python, and promise the environment of the caller',
    contract: "§3: it gets CE_PEER_JOB_ID, and the caller's environment",
    async play(p) {
      const job = await p.settledJob(['printenv', 'CE_PEER_PYTHON']);
      p.say(`set: ${readLog(job.dir) !== ''}`);
    },
    reference: ['set: true'],
    ours: ['set: false'],
  },
  {
    id: 'pid-before-the-worker',
    differs:
      'after a worker that could not be launched there is no pid file with the reference; with us there is, without worker',
    why: 'it is written before the worker is started, so that a supervisor that dies in between leaves its trace',
    contract: '§1: pid: its presence marks "detached"; §5',
    async play(p) {
      const job = await p.settledJob([p.temp.file('bad.sh', '#!/no/such/interpreter\n', 0o755)]);
      p.say(
        `pid file ${existsSync(join(job.dir, 'pid'))}, names a worker ${readPids(job.dir) !== undefined}`,
      );
    },
    reference: ['pid file false, names a worker false'],
    ours: ['pid file true, names a worker false'],
  },
  {
    id: 'outcome',
    differs: 'we write outcome.json as well',
    why: 'exit code, signal, times, sizes and the hash of the result are worth keeping',
    contract: '§1: outcome.json',
    async play(p) {
      const job = await withResult(p);
      p.say(`outcome.json ${existsSync(join(job.dir, 'outcome.json'))}`);
    },
    reference: ['outcome.json false'],
    ours: ['outcome.json true'],
  },
  {
    id: 'reason-of-a-strange-result',
    differs:
      'we say that what lies at the result path is no regular file; the reference has one reason for all of them',
    why: 'it tells what to look at',
    contract: '§4: not a regular file (or stale)',
    async play(p) {
      const job = await p.settledJob(sh('mkdir result'), ['--result-path', 'result']);
      p.say(`reason ${p.reasonOf(job)}.`);
    },
    reference: ['reason worker exited 0 without publishing a non-empty result.'],
    ours: ['reason worker exited 0 without publishing a non-empty result (not a regular file).'],
  },
  {
    id: 'a-record-in-a-row',
    differs:
      'line ends, tabs, escapes and the like in a label or reason are escaped in the rows of a wait under a deadline',
    why: 'who can write a record must not forge the rows of other jobs, nor steer a terminal',
    contract: '§6: one row per job',
    async play(p) {
      const job = await p.settledJob(['true']);
      const meta = join(job.dir, 'meta.json');
      writeFileSync(meta, JSON.stringify({ ...readMeta(job.dir), label: 'a\nforged' }));
      await p.cli('wait', '--deadline-secs', '5', job.id);
    },
    reference: ['wait --deadline-secs 5 <job 1> → 0 "a\\nforged\\t<job 1>'],
    ours: ['wait --deadline-secs 5 <job 1> → 0 "a\\\\nforged\\t<job 1>'],
  },
];
