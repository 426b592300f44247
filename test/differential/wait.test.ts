import { rmSync } from 'node:fs';
import { expect } from 'vitest';
import { requestReap } from '../support/jobs.ts';
import { fixture, sh } from '../support/programs.ts';
import { readPids } from '../support/read-job.ts';
import { compare } from './compare.ts';
import type { Play } from './play.ts';

const waitsForGo = sh('while [ ! -e go ]; do sleep 0.05; done');

async function jobOfEveryKind(p: Play) {
  const done = await p.settledJob(sh('true'), ['--label', 'a-done']);
  const failed = await p.settledJob(sh('exit 7'), ['--label', 'b-failed']);
  await p.cli('start', '--skill', 's', '--run-id', 'r', '--label', 'c-never', '--', 'no-such-program');
  const never = p.leftBehind();
  const running = await p.start(fixture('ignores-term.sh'), ['--label', 'd-running']);
  return { done, failed, never, running };
}

compare('wait', [
  {
    name: 'a settled job: its word, at once',
    shows: ['wait <job 1> → 0 "failed\\n"'],
    async play(p) {
      const job = await p.settledJob(sh('exit 1'));
      const before = performance.now();
      await p.cli('wait', job.id);
      // By itself it would wait 30 s.
      p.say(`soon ${performance.now() - before < 25_000}`);
    },
  },
  {
    name: '--max-secs 0, or little more, only looks',
    shows: ['wait --max-secs 0 <job 1> → 0 "running\\n"'],
    async play(p) {
      const job = await p.start(sh('sleep 60'));
      const before = performance.now();
      for (const secs of ['0', '0.0', '.1', '1e-3']) await p.cli('wait', '--max-secs', secs, job.id);
      // Any of them that waited would do so for 30 s.
      p.say(`soon ${performance.now() - before < 30_000}`);
    },
  },
  {
    name: '--max-secs below 0, as a caller may have counted it down, is 0',
    shows: ['wait --max-secs -1 <job 1> → 0 "running\\n"'],
    async play(p) {
      const job = await p.start(sh('sleep 60'));
      for (const secs of ['-0', '-1', '-2.5']) await p.cli('wait', '--max-secs', secs, job.id);
      await p.cli('wait', '--max-secs=-1', '--json', job.id);
    },
  },
  {
    name: 'the time is over: still running, exit 0',
    shows: ['wait --max-secs 0.5 <job 1> <job 2> → 0 "<job 1>\\tdone\\n<job 2>\\trunning\\n"', 'waited true'],
    async play(p) {
      const done = await p.settledJob(sh('true'));
      const running = await p.start(sh('sleep 60'));
      const before = performance.now();
      await p.cli('wait', '--max-secs', '0.5', done.id, running.id);
      p.say(`waited ${performance.now() - before >= 500}`);
    },
  },
  {
    name: 'ends when the last job has settled, long before its time',
    shows: ['wait --max-secs 50 <job 1> <job 2> → 0 "<job 1>\\tdone\\n<job 2>\\tdone\\n"', 'soon true'],
    async play(p) {
      const one = await p.start(waitsForGo);
      const two = await p.start(waitsForGo);
      const before = performance.now();
      const waiting = p.cli('wait', '--max-secs', '50', one.id, two.id);
      p.temp.file('go', '');
      await waiting;
      p.say(`soon ${performance.now() - before < 45_000}`);
    },
  },
  {
    name: 'without a deadline --deadline-grace-secs changes nothing',
    shows: ['wait --deadline-grace-secs 5 <job 1> → 0 "done\\n"'],
    async play(p) {
      const job = await p.settledJob(sh('true'));
      await p.cli('wait', '--deadline-grace-secs', '5', job.id);
    },
  },
  {
    name: '--json has the shape of status',
    shows: ['wait --json <job 1> → 0 "[{\\"ref\\": \\"<job 1>\\", '],
    async play(p) {
      const job = await p.settledJob(sh('true'));
      const other = await p.settledJob(sh('false'));
      await p.cli('wait', '--json', job.id);
      await p.cli('wait', '--json', '--max-secs', '0', job.id, other.dir);
    },
  },
  {
    name: 'every kind of job, without a deadline',
    shows: [
      'wait --max-secs 0 <job 1> <job 2> <job 3> <job 4> → 0 "<job 1>\\tdone\\n<job 2>\\tfailed\\n<job 3>\\tnever-started\\n<job 4>\\trunning\\n"',
    ],
    async play(p) {
      const { done, failed, never, running } = await jobOfEveryKind(p);
      await p.cli('wait', '--max-secs', '0', done.id, failed.id, never.id, running.id);
      await p.cli('wait', never.id);
    },
  },
]);

compare('wait with an aggregate deadline', [
  {
    name: 'all settled: rows with label, job, state, time and reason, then the line that says so',
    shows: [
      'wait --deadline-secs 1000 <job 1> <job 2> → 0 "one\\t<job 1>\\tdone\\t<under 1 min>\\n-\\t<job 2>\\tfailed\\t<under 1 min>\\tworker exited 4\\nall settled\\n"',
    ],
    async play(p) {
      const one = await p.settledJob(sh('true'), ['--label', 'one']);
      const two = await p.settledJob(sh('exit 4'));
      await p.cli('wait', '--deadline-secs', '1000', one.id, two.id);
      await p.cli('wait', '--deadline-secs', '1000', '--json', one.id, two.id);
      await p.cli('wait', '--deadline-secs', '1000', one.dir);
    },
  },
  {
    name: 'waiting: how many still run and how long is left',
    shows: [
      'wait --deadline-secs 1000 --max-secs 0 <job 1> <job 2> <job 3> <job 4> → 0 "a-done\\t<job 1>\\tdone\\t<under 1 min>\\n',
    ],
    async play(p) {
      const { done, failed, never, running } = await jobOfEveryKind(p);
      await p.cli(
        'wait',
        '--deadline-secs',
        '1000',
        '--max-secs',
        '0',
        done.id,
        failed.id,
        never.id,
        running.id,
      );
      await p.cli(
        'wait',
        '--deadline-secs',
        '1000',
        '--max-secs',
        '0',
        '--json',
        done.id,
        failed.id,
        never.id,
        running.id,
      );
    },
  },
  {
    name: 'deadline passed: which jobs to reap',
    shows: [
      'wait --deadline-secs 500 --max-secs 0 <job 1> <job 2> <job 3> <job 4> → 0 "a-done\\t<job 1>\\tdone\\t<about 16 min>\\n',
    ],
    async play(p) {
      const { done, failed, never, running } = await jobOfEveryKind(p);
      const second = await p.start(sh('sleep 60'));
      for (const job of [done, failed, never, running, second]) p.backdate(job, 985);
      const ids = [done.id, failed.id, never.id, running.id];
      await p.cli('wait', '--deadline-secs', '500', '--max-secs', '0', ...ids);
      await p.cli('wait', '--deadline-secs', '500', '--max-secs', '0', ...ids, second.id);
      await p.cli('wait', '--deadline-secs', '500', '--max-secs', '0', '--json', ...ids, second.dir);
    },
  },
  {
    name: 'a deadline of 0 has passed at once',
    shows: [
      'wait --deadline-secs 0 --max-secs 0 <job 1> → 0 "-\\t<job 1>\\trunning\\t<under 1 min>\\ndeadline passed: reap <job 1>, ',
    ],
    async play(p) {
      const job = await p.start(sh('sleep 60'));
      await p.cli('wait', '--deadline-secs', '0', '--max-secs', '0', job.id);
      await p.cli('wait', '--deadline-secs', '0', '--max-secs', '0', '--json', job.id);
    },
  },
  {
    name: 'the deadline counts from the start of the last job',
    shows: ['wait --deadline-secs 450 --max-secs 0 <job 1> <job 2> → 0'],
    async play(p) {
      const early = await p.start(sh('sleep 60'));
      const late = await p.start(sh('sleep 60'));
      p.backdate(early, 985);
      await p.cli('wait', '--deadline-secs', '450', '--max-secs', '0', early.id, late.id);
      await p.cli('wait', '--deadline-secs', '450', '--max-secs', '0', early.id);
    },
  },
  {
    name: '--deadline-grace-secs is added to it',
    shows: [
      'wait --deadline-secs 500 --max-secs 0 --deadline-grace-secs 650 <job 1> → 0 "-\\t<job 1>\\trunning\\t<about 16 min>\\nwaiting: 1 of 1 still running; <about 2 min> left',
    ],
    async play(p) {
      const job = await p.start(sh('sleep 60'));
      p.backdate(job, 985);
      const wait = ['wait', '--deadline-secs', '500', '--max-secs', '0', '--deadline-grace-secs'];
      await p.cli(...wait, '650', job.id);
      await p.cli(...wait, '50.5', job.id);
      await p.cli(...wait, '650', '--json', job.id);
    },
  },
  {
    name: 'ends at the deadline, before --max-secs',
    shows: ['ended in time true'],
    async play(p) {
      const job = await p.start(sh('sleep 60'));
      const before = performance.now();
      await p.cli('wait', '--deadline-secs', '3', '--max-secs', '100', job.id);
      // Should it have passed before the wait began, that grants another 15 s to jobs just reaped.
      p.say(`ended in time ${performance.now() - before < 60_000}`);
    },
  },
  {
    name: 'a deadline passed with all settled is all settled',
    shows: ['wait --deadline-secs 0 <job 1> → 0 "-\\t<job 1>\\tdone\\t<under 1 min>\\nall settled\\n"'],
    async play(p) {
      const job = await p.settledJob(sh('true'));
      await p.cli('wait', '--deadline-secs', '0', job.id);
      await p.cli('wait', '--deadline-secs', '0', '--json', job.id);
    },
  },
  {
    name: 'past the deadline a job just reaped still gets to settle',
    shows: [
      'wait --deadline-secs 0 <job 1> → 0 "-\\t<job 1>\\ttimeout\\t<under 1 min>\\treaped on request before completion\\nall settled\\n"',
    ],
    async play(p) {
      const job = await p.readyJob(fixture('ignores-term.sh'), [], { extra: { CE_PEER_GRACE_SECS: '1.5' } });
      const supervisor = readPids(job.dir)?.supervisor_pid ?? expect.fail('no pid file');
      await requestReap(supervisor);
      await p.cli('wait', '--deadline-secs', '0', job.id);
    },
  },
  {
    name: 'a job without a readable start shows ?, and counts as past its deadline',
    shows: [
      'wait --deadline-secs 1000 --max-secs 0 <job 1> → 0 "-\\t<job 1>\\trunning\\t?\\ndeadline passed: ',
    ],
    async play(p) {
      const job = await p.start(sh('sleep 60'));
      rmSync(`${job.dir}/meta.json`);
      await p.cli('wait', '--deadline-secs', '1000', '--max-secs', '0', job.id);
      await p.cli('wait', '--deadline-secs', '1000', '--max-secs', '0', '--json', job.id);
    },
  },
]);
