import { writeFileSync } from 'node:fs';
import { eventually } from '../support/eventually.ts';
import { isAlive } from '../support/proc.ts';
import { commandOf, fixture, sh } from '../support/programs.ts';
import { readLog, readPids, readStatus } from '../support/read-job.ts';
import { compare } from './compare.ts';

compare('reap', [
  {
    name: 'a running job: nothing printed, exit 0, timeout, and its worker gone',
    shows: [
      'reap <job 1> → 0 ""',
      'settled timeout',
      'status <job 1> → 0 "timeout\\n"',
      'result <job 1> → 3 ""',
    ],
    async play(p) {
      const job = await p.readyJob(sh('echo "ready $$"; sleep 60'), ['--result-path', 'result']);
      await p.cli('reap', job.id);
      p.say(`settled ${await p.settled(job)}`);
      await p.cli('status', job.id);
      await p.cli('result', job.id);
      p.record(job);
    },
  },
  {
    name: 'a worker that ignores TERM is killed after the grace, and its children with it',
    shows: ['settled timeout'],
    async play(p) {
      const job = await p.readyJob(sh('trap \'\' TERM; sleep 60 & echo "ready $$ $!"; sleep 60'), [], {
        extra: { CE_PEER_GRACE_SECS: '0.5' },
      });
      for (const pid of await p.ready(job)) p.temp.ledger.register(pid, 'ignores TERM');
      await p.cli('reap', job.id);
      p.say(`settled ${await p.settled(job)}`);
      p.record(job);
    },
  },
  {
    name: 'a worker that finishes well during the grace has timed out all the same',
    shows: ['settled timeout', 'result <job 1> → 3 "", and says why'],
    async play(p) {
      const worker = fixture('finishes-on-term.sh', p.temp.at('result'), 'too late');
      const job = await p.readyJob(worker, ['--result-path', 'result']);
      await p.cli('reap', job.id);
      p.say(`settled ${await p.settled(job)}`);
      await p.cli('result', job.id);
      p.record(job, { log: false });
    },
  },
  {
    name: 'a worker found already finished well stays done',
    shows: ['settled done', 'result <job 1> → 0 "in time"'],
    async play(p) {
      // The reference looks at its worker only every 30 s here, so the reap is what it notices first.
      const worker = fixture('writes-result.sh', p.temp.at('result'), 'in time', 0.3);
      const job = await p.start(worker, ['--result-path', 'result'], { extra: { CE_PEER_POLL_SECS: '30' } });
      const pid = readPids(job.dir)?.worker_pid ?? 0;
      await eventually(() => !isAlive(pid));
      await p.cli('reap', job.id);
      p.say(`settled ${await p.settled(job)}`);
      await p.cli('result', job.id);
      p.record(job);
    },
  },
  {
    name: 'a stopped worker is reaped',
    shows: ['settled timeout'],
    async play(p) {
      const job = await p.readyJob(fixture('stopped-by-sigstop.py'), [], {
        extra: { CE_PEER_GRACE_SECS: '0.3' },
      });
      await p.cli('reap', job.id);
      p.say(`settled ${await p.settled(job)}`);
    },
  },
  {
    name: 'a settled job, whichever way, and a never-started one: 0, and nothing changes',
    shows: ['reap <job 1> <job 2> <job 3> → 0 ""'],
    async play(p) {
      const done = await p.settledJob(sh('true'));
      const failed = await p.settledJob(sh('false'));
      await p.cli('start', '--skill', 's', '--run-id', 'r', '--', 'no-such-program');
      const never = p.leftBehind();
      await p.cli('reap', done.id, failed.id, never.id);
      await p.cli('reap', never.dir);
      await p.cli('status', done.id, failed.id, never.id);
      for (const job of [done, failed, never]) p.record(job);
    },
  },
  {
    name: 'twice: the second is a no-op',
    shows: ['reap <job 1> → 0 ""'],
    async play(p) {
      const job = await p.readyJob(sh('echo "ready $$"; sleep 60'));
      await p.cli('reap', job.id);
      await p.settled(job);
      await p.cli('reap', job.id);
      p.record(job);
    },
  },
  {
    name: 'many at a time, from two callers at once',
    shows: ['settled timeout timeout timeout'],
    async play(p) {
      const jobs = [];
      for (let count = 0; count < 3; count += 1)
        jobs.push(await p.readyJob(sh('echo "ready $$"; exec sleep 60')));
      const ids = jobs.map(({ id }) => id);
      const [one, two] = await Promise.all([
        p.temp.run(p.side, ['reap', ...ids]),
        p.temp.run(p.side, ['reap', ...ids.reverse()]),
      ]);
      p.say(`codes ${one.code} ${two.code}`);
      p.say(`settled ${(await Promise.all(jobs.map((job) => p.settled(job)))).join(' ')}`);
    },
  },
  {
    name: 'an unknown job: 1; the others are reaped all the same',
    shows: ['reap nope <job 1> → 1 "", and says why', 'settled timeout'],
    async play(p) {
      const job = await p.readyJob(sh('echo "ready $$"; sleep 60'));
      await p.cli('reap', 'nope', job.id);
      p.say(`settled ${await p.settled(job)}`);
      await p.cli('reap', 'nope');
      await p.cli('reap', 'nope', '..', './nope');
    },
  },
  {
    name: 'unreadable: 4; with an unknown one: 1; with a settled one: 4',
    shows: [
      'reap <job 1> → 4 "", and says why',
      'reap <job 1> nope → 1 "", and says why',
      'reap <job 2> <job 1> → 4 "", and says why',
      'reap <job 1> <job 1> → 4 "", and says why',
    ],
    async play(p) {
      const unreadable = await p.settledJob(sh('true'));
      const done = await p.settledJob(sh('true'));
      writeFileSync(`${unreadable.dir}/status`, 'nonsense\n');
      await p.cli('reap', unreadable.id);
      await p.cli('reap', unreadable.id, 'nope');
      await p.cli('reap', done.id, unreadable.id);
      await p.cli('reap', unreadable.id, unreadable.id);
    },
  },
  {
    name: 'a job started from inside a job is spared when the outer one is reaped',
    shows: ['outer timeout', 'status <job 2> → 0 "running\\n"'],
    async play(p) {
      const outer = await p.start(fixture('nested-job.sh', ...commandOf(p.side)), ['--run-id', 'outer']);
      const nested = await eventually(() => /^ready \d+ (\S+)\n/m.exec(readLog(outer.dir))?.[1]);
      await p.cli('status', nested);
      await p.cli('reap', outer.id);
      p.say(`outer ${await p.settled(outer)}`);
      await p.cli('status', nested);
      await p.cli('reap', nested);
      const dir = `${p.temp.base}/s/nested/jobs/${nested}`;
      p.say(`nested ${await eventually(() => readStatus(dir))}`);
    },
  },
]);
