import { mkdirSync, symlinkSync } from 'node:fs';
import type { Argv } from '../support/programs.ts';
import { compare, type Scenario } from './compare.ts';
import type { Play } from './play.ts';

/** A start that is refused before anything is detached, and leaves a job that says so. */
function refused(name: string, prepare: (play: Play) => Argv): Scenario {
  return {
    name: `${name} detaches nothing and leaves a never-started job`,
    shows: [
      'start --skill s --run-id r --result-path out → 1 "", and says why',
      'status <job 1> → 0 "never-started\\n"',
      'result <job 1> → 3 "", and says why',
    ],
    async play(p) {
      const worker = prepare(p);
      await p.cli('start', '--skill', 's', '--run-id', 'r', '--result-path', 'out', '--', ...worker);
      const job = p.leftBehind();
      p.record(job);
      await p.cli('status', job.id);
      await p.cli('wait', job.id);
      await p.cli('result', job.id);
      await p.cli('reap', job.id);
      await p.cli('status', job.id);
    },
  };
}

compare('preflight', [
  refused('a worker that is not on PATH', () => ['no-such-program-anywhere', 'x']),
  refused('a worker path where nothing is', (p) => [p.temp.at('missing')]),
  refused('a relative worker path where nothing is', () => ['./missing']),
  refused('a worker that is not executable', (p) => [p.temp.file('plain.sh', '#!/bin/sh\n')]),
  refused('a directory as the worker', (p) => [p.temp.scratch]),
  refused('a dangling link as the worker', (p) => {
    symlinkSync('nowhere', p.temp.at('link'));
    return [p.temp.at('link')];
  }),
  refused('a worker below a file', (p) => [`${p.temp.file('plain', '')}/worker`]),
  refused('an empty worker name', () => ['']),
  refused('a directory on PATH with the name of the worker', (p) => {
    mkdirSync(p.temp.at('a-directory'));
    return ['a-directory'];
  }),
  refused('a program of the working directory, without a slash,', (p) => {
    p.temp.file('here.sh', '#!/bin/sh\n', 0o755);
    return ['here.sh'];
  }),
  {
    name: 'a link to an executable is a fine worker',
    shows: ['status <job 1> → 0 "done\\n"'],
    async play(p) {
      symlinkSync(p.temp.file('real.sh', '#!/bin/sh\nexit 0\n', 0o755), p.temp.at('link'));
      const job = await p.settledJob([p.temp.at('link')]);
      await p.cli('status', job.id);
      p.record(job);
    },
  },
  {
    name: 'a script with a missing interpreter is started, and has failed: could not launch',
    shows: ['start --skill s --run-id r → 0', 'status <job 1> → 0 "failed\\n"'],
    async play(p) {
      const job = await p.settledJob([p.temp.file('bad.sh', '#!/no/such/interpreter\n', 0o755)]);
      await p.cli('status', job.id);
      p.record(job, { pid: false });
      await p.cli('result', job.id);
      await p.cli('reap', job.id);
    },
  },
  {
    name: 'a script without a first line that names an interpreter could not be launched: no shell guesses',
    shows: ['status <job 1> → 0 "failed\\n"'],
    async play(p) {
      const job = await p.settledJob([p.temp.file('bare', 'echo a shell ran this\n', 0o755)]);
      await p.cli('status', job.id);
      p.record(job, { pid: false });
    },
  },
  {
    name: 'an empty executable file could not be launched',
    shows: ['status <job 1> → 0 "failed\\n"'],
    async play(p) {
      const job = await p.settledJob([p.temp.file('empty', '', 0o755)]);
      await p.cli('status', job.id);
      p.record(job, { pid: false });
    },
  },
]);
