import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { type Argv, fixture, sh } from '../support/programs.ts';
import { compare, type Scenario } from './compare.ts';
import type { Play } from './play.ts';

interface Ending {
  readonly name: string;
  readonly word: string;
  readonly reason: string;
  readonly env?: Readonly<Record<string, string>>;
  /** No result is declared without this. */
  readonly result?: 'result';
  /** What `result` answers once the job has settled; nothing is asked when not given. */
  readonly resultCode?: number;
  readonly log?: false;
  worker(play: Play): Argv;
}

/** A job that ends by itself or by its supervisor, and everything that is then on the disk. */
function ending(row: Ending): Scenario {
  return {
    name: `${row.name}: ${row.word}`,
    shows: [`status <job 1> → 0 "${row.word}\\n"`, `reason ${row.reason}`],
    async play(p) {
      const flags = row.result ? ['--result-path', p.temp.at(row.result)] : [];
      const job = await p.settledJob(row.worker(p), flags, row.env ? { extra: row.env } : {});
      await p.cli('status', job.id);
      p.say(`reason ${p.reasonOf(job)}`);
      p.record(job, { log: row.log ?? true });
      if (row.resultCode !== undefined) await p.cli('result', job.id);
      await p.cli('wait', '--deadline-secs', '1000', job.id);
    },
  };
}

const NO_RESULT = 'worker exited 0 without publishing a non-empty result';

compare('classification: the worker ends', [
  ending({
    name: 'exit 0, none declared',
    word: 'done',
    reason: 'worker exited 0',
    resultCode: 0,
    worker: () => sh('exit 0'),
  }),
  ending({
    name: 'exit 0 with its result',
    word: 'done',
    reason: 'worker exited 0',
    result: 'result',
    resultCode: 0,
    worker: (p) => fixture('writes-result.sh', p.temp.at('result'), 'the result', 0),
  }),
  ending({
    name: 'exit 0, declared result absent',
    word: 'failed',
    reason: NO_RESULT,
    result: 'result',
    resultCode: 3,
    worker: () => sh('exit 0'),
  }),
  ending({
    name: 'exit 0, declared result empty',
    word: 'failed',
    reason: NO_RESULT,
    result: 'result',
    resultCode: 3,
    worker: (p) => fixture('writes-result.sh', p.temp.at('result'), '', 0),
  }),
  ending({
    name: 'exit 3, none declared',
    word: 'failed',
    reason: 'worker exited 3',
    resultCode: 3,
    worker: () => fixture('exits-with.sh', 3, 'last words'),
  }),
  ending({
    name: 'exit 3 with its result',
    word: 'failed',
    reason: 'worker exited 3',
    result: 'result',
    resultCode: 3,
    worker: (p) => fixture('writes-result.sh', p.temp.at('result'), 'half of it', 0, 3),
  }),
  ending({
    name: 'exit 255',
    word: 'failed',
    reason: 'worker exited 255',
    worker: () => fixture('exits-with.sh', 255),
  }),
  ending({
    name: 'exit 137, which is no signal but a shell that tells of one',
    word: 'failed',
    reason: 'worker exited 137',
    worker: () => fixture('exits-with.sh', 137),
  }),
  ...['KILL', 'TERM', 'HUP', 'PIPE'].map((signal) =>
    ending({
      name: `killed by SIG${signal} that nobody here sent, no result`,
      word: 'died-without-result',
      reason: 'worker killed by signal ',
      result: 'result',
      resultCode: 3,
      worker: () => fixture('kills-itself.py', signal),
    }),
  ),
  ending({
    name: 'killed by SIGKILL with its result there',
    word: 'done',
    reason: 'worker killed by signal 9 after publishing its result',
    result: 'result',
    resultCode: 0,
    worker: (p) => fixture('kills-itself.py', 'KILL', p.temp.at('result'), 'in time'),
  }),
  ending({
    name: 'killed by SIGKILL, none declared',
    word: 'died-without-result',
    reason: 'worker killed by signal 9 with no result evidence',
    resultCode: 3,
    worker: () => fixture('kills-itself.py', 'KILL'),
  }),
  ending({
    name: 'killed by SIGKILL over the result cap',
    word: 'failed',
    reason: 'result exceeded byte cap (11 > 10 bytes)',
    result: 'result',
    env: { CE_PEER_RESULT_MAX_BYTES: '10' },
    worker: (p) => fixture('kills-itself.py', 'KILL', p.temp.at('result'), 'eleven byte'),
  }),
  ending({
    name: 'result at its cap exactly',
    word: 'done',
    reason: 'worker exited 0',
    result: 'result',
    resultCode: 0,
    env: { CE_PEER_RESULT_MAX_BYTES: '10' },
    worker: (p) => fixture('writes-result.sh', p.temp.at('result'), 'ten bytes.', 0),
  }),
  ending({
    name: 'result one byte over its cap',
    word: 'failed',
    reason: 'result exceeded byte cap (11 > 10 bytes)',
    result: 'result',
    resultCode: 3,
    env: { CE_PEER_RESULT_MAX_BYTES: '10' },
    worker: (p) => fixture('writes-result.sh', p.temp.at('result'), 'eleven byte', 0),
  }),
  ending({
    name: 'exit 3 with a result over its cap',
    word: 'failed',
    reason: 'result exceeded byte cap (11 > 10 bytes)',
    result: 'result',
    env: { CE_PEER_RESULT_MAX_BYTES: '10' },
    worker: (p) => fixture('writes-result.sh', p.temp.at('result'), 'eleven byte', 0, 3),
  }),
  ending({
    name: 'a log at its cap exactly',
    word: 'done',
    reason: 'worker exited 0',
    env: { CE_PEER_LOG_MAX_BYTES: '20' },
    worker: () => sh("printf '%020d' 0; sleep 0.4"),
  }),
]);

compare('classification: the supervisor ends it', [
  ending({
    name: 'a silent worker past its idle window',
    word: 'timeout',
    reason: 'no output for 0.7s (idle window)',
    resultCode: 3,
    env: { CE_PEER_IDLE_SECS: '0.7' },
    worker: () => sh('sleep 60'),
  }),
  ending({
    name: 'a worker that falls silent',
    word: 'timeout',
    reason: 'no output for 4s (idle window)',
    env: { CE_PEER_IDLE_SECS: '4' },
    worker: () => sh('echo one; sleep 0.3; echo two; sleep 60'),
  }),
  ending({
    name: 'a worker that talks past its hard window',
    word: 'timeout',
    reason: 'hard cap 1s exceeded',
    env: { CE_PEER_HARD_SECS: '1' },
    log: false,
    worker: () => fixture('prints-slowly.sh', 60, 0.1),
  }),
  ending({
    name: 'a hard window shorter than the idle one, in silence',
    word: 'timeout',
    reason: 'hard cap 0.5s exceeded',
    env: { CE_PEER_HARD_SECS: '0.5', CE_PEER_IDLE_SECS: '50' },
    worker: () => sh('sleep 60'),
  }),
  ending({
    name: 'a worker that talks now and then inside its idle window',
    word: 'done',
    reason: 'worker exited 0',
    env: { CE_PEER_IDLE_SECS: '5' },
    worker: () => fixture('prints-slowly.sh', 10, 0.6),
  }),
  ending({
    name: 'a flood past the log cap',
    word: 'failed',
    reason: 'out.log exceeded byte cap (… > 100000 bytes)',
    resultCode: 3,
    env: { CE_PEER_LOG_MAX_BYTES: '100000' },
    log: false,
    worker: () => fixture('flood-log.py'),
  }),
  ending({
    name: 'a few bytes past the log cap',
    word: 'failed',
    reason: 'out.log exceeded byte cap (… > 100 bytes)',
    env: { CE_PEER_LOG_MAX_BYTES: '100' },
    log: false,
    worker: () => sh("printf '%0200d' 0; sleep 60"),
  }),
  ending({
    name: 'an idle worker that ignores TERM is killed after the grace',
    word: 'timeout',
    reason: 'no output for 3s (idle window)',
    env: { CE_PEER_IDLE_SECS: '3', CE_PEER_GRACE_SECS: '0.5' },
    worker: () => fixture('ignores-term.sh'),
  }),
  ending({
    name: 'an idle worker that writes its result when it is told to go',
    word: 'timeout',
    reason: 'no output for 3s (idle window)',
    result: 'result',
    resultCode: 3,
    env: { CE_PEER_IDLE_SECS: '3' },
    // Whether its shell still says `Terminated` is chance.
    log: false,
    worker: (p) => fixture('finishes-on-term.sh', p.temp.at('result'), 'too late'),
  }),
  ending({
    name: 'an idle worker that has stopped itself',
    word: 'timeout',
    reason: 'no output for 5s (idle window)',
    env: { CE_PEER_IDLE_SECS: '5', CE_PEER_GRACE_SECS: '0.3' },
    worker: () => fixture('stopped-by-sigstop.py'),
  }),
  {
    name: 'a worker that exits leaves nobody of its group behind',
    shows: ['status <job 1> → 0 "done\\n"'],
    async play(p) {
      const job = await p.settledJob(sh('sleep 60 & sleep 60 & echo "ready $$ $!"; exit 0'));
      await p.cli('status', job.id);
      p.record(job);
      // That nobody is left is for the ledger to tell, at the end.
    },
  },
  {
    name: 'two hundred children go with their worker',
    shows: ['status <job 1> → 0 "timeout\\n"'],
    async play(p) {
      const job = await p.readyJob(fixture('two-hundred-children.sh', 'ignore-term'), [], {
        // Before it says that it is ready it is silent, and a slow box takes a while for two hundred.
        extra: { CE_PEER_IDLE_SECS: '10', CE_PEER_GRACE_SECS: '0.3' },
      });
      for (const pid of await p.ready(job)) p.temp.ledger.register(pid, 'one of two hundred');
      await p.settled(job);
      await p.cli('status', job.id);
    },
  },
]);

compare('classification: what lies at the result path', [
  {
    name: 'a directory there is no result: failed',
    shows: ['status <job 1> → 0 "failed\\n"', 'result <job 1> → 3 ""'],
    async play(p) {
      const job = await p.settledJob(sh('mkdir result'), ['--result-path', 'result']);
      await p.cli('status', job.id);
      await p.cli('result', job.id);
      p.say(`reason says ${p.reasonOf(job)?.startsWith(NO_RESULT)}`);
    },
  },
  {
    name: 'a link there is no result, not even one to a file: failed',
    shows: ['status <job 1> → 0 "failed\\n"', 'result <job 1> → 3 ""'],
    async play(p) {
      const job = await p.settledJob(sh('echo real > real; ln -s real result'), ['--result-path', 'result']);
      await p.cli('status', job.id);
      await p.cli('result', job.id);
      p.say(`reason says ${p.reasonOf(job)?.startsWith(NO_RESULT)}`);
    },
  },
  {
    name: 'a FIFO there is no result, and nobody hangs on it: failed',
    shows: ['status <job 1> → 0 "failed\\n"'],
    async play(p) {
      const job = await p.settledJob(sh('mkfifo result'), ['--result-path', 'result']);
      await p.cli('status', job.id);
    },
  },
  {
    name: 'a result behind a link in its directory is a result: done',
    shows: ['status <job 1> → 0 "done\\n"', 'result <job 1> → 0 "x"'],
    async play(p) {
      mkdirSync(p.temp.at('real'));
      symlinkSync('real', p.temp.at('link'));
      const worker = fixture('writes-result.sh', 'real/result', 'x', 0);
      const job = await p.settledJob(worker, ['--result-path', 'link/result']);
      await p.cli('status', job.id);
      await p.cli('result', job.id);
      p.say(`there ${existsSync(p.temp.at('real/result'))}`);
    },
  },
  {
    name: 'a result rewritten in place by the worker is its result: done',
    shows: ['status <job 1> → 0 "done\\n"', 'result <job 1> → 0 "new"'],
    async play(p) {
      p.temp.file('result', 'old');
      const job = await p.settledJob(fixture('writes-result.sh', 'result', 'new', 0), [
        '--result-path',
        'result',
      ]);
      await p.cli('status', job.id);
      await p.cli('result', job.id);
    },
  },
]);
