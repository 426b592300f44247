import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { fixture, sh } from '../support/programs.ts';
import { compare, type Scenario } from './compare.ts';
import type { Job, Play } from './play.ts';

/** A settled job whose record somebody has tampered with, asked in every way. */
function tampered(name: string, tamper: (job: Job, play: Play) => void, needs?: 'root'): Scenario {
  return {
    name: `${name} is unreadable, and nothing of it is shown`,
    needs,
    shows: [
      'status <job 1> → 0 "unreadable\\n"',
      'wait <job 1> → 0 "unreadable\\n"',
      'result <job 1> → 4 "", and says why',
      'reap <job 1> → 4 "", and says why',
    ],
    async play(p) {
      const flags = ['--label', 'l', '--result-path', 'result'];
      const job = await p.settledJob(fixture('writes-result.sh', 'result', 'the result', 0), flags);
      tamper(job, p);
      await p.cli('status', job.id);
      await p.cli('status', '--json', job.id);
      await p.cli('wait', job.id);
      await p.cli('result', job.id);
      await p.cli('result', job.id, '--path', 'absent');
      await p.cli('reap', job.id);
      await p.cli('status', job.id);
    },
  };
}

/** A status file with other bytes in it that still is one of the words. */
function tolerated(name: string, text: string): Scenario {
  return {
    name: `a status of ${name} counts as its word`,
    shows: ['status <job 1> → 0 "done\\n"'],
    async play(p) {
      const job = await p.settledJob(sh('exit 3'));
      writeFileSync(join(job.dir, 'status'), text);
      await p.cli('status', job.id);
    },
  };
}

const OTHER_USER = 65_534;

compare('status', [
  {
    name: 'one word for one job, running and then done',
    shows: ['status <job 1> → 0 "running\\n"', 'status <job 1> → 0 "done\\n"'],
    async play(p) {
      const job = await p.start(sh('while [ ! -e go ]; do sleep 0.05; done'));
      await p.cli('status', job.id);
      p.temp.file('go', '');
      await p.settled(job);
      await p.cli('status', job.id);
    },
  },
  {
    name: 'a row each for several jobs, in the order asked',
    shows: ['status <job 2> <job 1> <job 3> → 0 "<job 2>\\tfailed\\n<job 1>\\tdone\\n<job 3>\\trunning\\n"'],
    async play(p) {
      const done = await p.settledJob(sh('true'));
      const failed = await p.settledJob(sh('false'));
      const running = await p.start(sh('sleep 60'));
      await p.cli('status', failed.id, done.id, running.id);
    },
  },
  {
    name: '--json for one and for several, with the flag before or after the jobs',
    shows: [
      'status --json <job 1> → 0 "[{\\"ref\\": \\"<job 1>\\", \\"job_dir\\": \\"<temp>/base/s/r/jobs/<job 1>\\", \\"state\\": \\"done\\"}]\\n"',
    ],
    async play(p) {
      const one = await p.settledJob(sh('true'));
      const two = await p.settledJob(sh('false'));
      await p.cli('status', '--json', one.id);
      await p.cli('status', two.id, '--json', '--skill', 's');
    },
  },
  {
    name: 'a job may be given as the path of its directory, absolute, relative, with a slash at the end or a detour',
    shows: ['status <temp>/base/s/r/jobs/<job 1> → 0 "done\\n"'],
    async play(p) {
      const job = await p.settledJob(sh('true'));
      const path = relative(p.temp.scratch, job.dir);
      await p.cli('status', job.dir);
      await p.cli('status', path);
      await p.cli('status', `./${path}/`);
      await p.cli('status', `${job.dir}/../${job.id}`);
      await p.cli('status', '--json', path);
      await p.cli('status', '--json', `${job.dir}/`);
      await p.cli('status', '--skill', 'other', job.dir);
      await p.cli('wait', path);
      await p.cli('reap', path);
      await p.cli('result', path);
    },
  },
  {
    name: 'a job directory outside any base is found by its path',
    shows: ['status <temp>/scratch/elsewhere/<job 1> → 0 "done\\n"'],
    async play(p) {
      const job = await p.settledJob(sh('true'));
      mkdirSync(p.temp.at('elsewhere'));
      renameSync(job.dir, p.temp.at(`elsewhere/${job.id}`));
      await p.cli('status', p.temp.at(`elsewhere/${job.id}`));
      await p.cli('status', job.id);
    },
  },
  {
    name: '--skill narrows the look-up',
    shows: ['status --skill s <job 1> → 0 "done\\n"', 'status --skill other <job 1> → 1 "", and says why'],
    async play(p) {
      const job = await p.settledJob(sh('true'));
      await p.cli('status', '--skill', 's', job.id);
      await p.cli('status', '--skill', 'other', job.id);
      await p.cli('status', '--skill', 'a/b', job.id);
      await p.cli('status', '--skill', '..', job.id);
      await p.cli('wait', '--skill', 'other', '--max-secs', '0', job.id);
      await p.cli('result', '--skill', 'other', job.id);
      await p.cli('reap', '--skill', 'other', job.id);
    },
  },
  {
    name: 'unknown ids, and what cannot be one',
    shows: ['status 20260101T000000Z-00000000 → 1 "", and says why', 'status .. → 1 "", and says why'],
    async play(p) {
      await p.settledJob(sh('true'));
      const refs = [
        '20260101T000000Z-00000000',
        'nope',
        '..',
        '',
        'a b',
        '*',
        '2*',
        '[0-9]*',
        'x\ny',
        'no/such/dir',
        '///no',
      ];
      for (const ref of refs) await p.cli('status', ref);
      for (const command of ['wait', 'result', 'reap']) {
        for (const ref of ['20260101T000000Z-00000000', '..', '*', './no/such']) await p.cli(command, ref);
      }
    },
  },
  {
    name: 'with no base at all: unknown, and none is made',
    shows: ['status 20260101T000000Z-00000000 → 1 ""'],
    async play(p) {
      await p.cli('status', '20260101T000000Z-00000000');
      await p.cli('wait', '--max-secs', '0', '20260101T000000Z-00000000');
      await p.cli('reap', '20260101T000000Z-00000000');
      p.say(`base ${existsSync(p.temp.base)}`);
    },
  },
  {
    name: 'one id in two runs is ambiguous by id, and clear by path',
    shows: ['status <job 1> → 1 "", and says why'],
    async play(p) {
      const job = await p.settledJob(sh('true'));
      const copy = join(p.temp.base, 's', 'r2', 'jobs', job.id);
      cpSync(job.dir, copy, { recursive: true });
      await p.cli('status', job.id);
      await p.cli('status', job.dir);
      await p.cli('status', copy);
    },
  },
  {
    name: 'a job of the fallback root below TMPDIR is found without CE_PEER_JOBS_ROOT',
    shows: ['status <job 1> → 0 "done\\n"'],
    async play(p) {
      const root = p.temp.at(`compound-engineering-${process.geteuid?.()}`);
      const job = await p.settledJob(sh('true'), [], { extra: { CE_PEER_JOBS_ROOT: root } });
      const elsewhere = { extra: { TMPDIR: p.temp.scratch }, without: ['CE_PEER_JOBS_ROOT'] };
      await p.cliWith(elsewhere, 'status', job.id);
      await p.cliWith(elsewhere, 'status', '--skill', 's', '--json', job.id);
      await p.cli('status', job.id);
    },
  },
  {
    name: 'jobs of ce-work lie below CE_WORK_RUNS_ROOT itself and are found with --skill ce-work',
    shows: ['<temp>/scratch/work/r/jobs/<job 1>', 'status --skill ce-work <job 1> → 0 "done\\n"'],
    async play(p) {
      const extra = { CE_WORK_RUNS_ROOT: p.temp.at('work') };
      const job = await p.settledJob(sh('true'), ['--skill', 'ce-work'], { extra });
      p.say(p.normal(job.dir));
      await p.cliWith({ extra }, 'status', '--skill', 'ce-work', job.id);
      await p.cliWith({ extra }, 'status', '--skill', 's', job.id);
      await p.cli('status', '--skill', 'ce-work', job.id);
      await p.cli('status', job.dir);
    },
  },
  {
    name: 'CE_WORK_RUNS_ROOT is for ce-work alone',
    shows: ['<temp>/base/s/r/jobs/<job 1>'],
    async play(p) {
      const extra = { CE_WORK_RUNS_ROOT: p.temp.at('work') };
      const job = await p.settledJob(sh('true'), [], { extra });
      p.say(p.normal(job.dir));
      await p.cliWith({ extra }, 'status', job.id);
      const inBase = await p.settledJob(sh('true'), ['--skill', 'ce-work'], {
        extra: { CE_WORK_RUNS_ROOT: '' },
      });
      p.say(p.normal(inBase.dir));
    },
  },
]);

compare('status: records tampered with', [
  tampered('a word that is no state', (job) => writeFileSync(join(job.dir, 'status'), 'finished\n')),
  tampered('a state in capitals', (job) => writeFileSync(join(job.dir, 'status'), 'DONE\n')),
  tampered('a state that is no terminal one', (job) => writeFileSync(join(job.dir, 'status'), 'running\n')),
  tampered('two words', (job) => writeFileSync(join(job.dir, 'status'), 'done failed\n')),
  tampered('an empty status', (job) => writeFileSync(join(job.dir, 'status'), '')),
  tampered('a status of blanks', (job) => writeFileSync(join(job.dir, 'status'), ' \n\n')),
  tampered('a status of 257 bytes', (job) =>
    writeFileSync(join(job.dir, 'status'), `done${'\n'.repeat(253)}`),
  ),
  tampered('a status with bytes that are no text', (job) =>
    writeFileSync(join(job.dir, 'status'), Buffer.from([0x64, 0x6f, 0x6e, 0x65, 0xff])),
  ),
  tampered('a status that is a link', (job, p) => {
    rmSync(join(job.dir, 'status'));
    symlinkSync(p.temp.file('planted', 'done\n'), join(job.dir, 'status'));
  }),
  tampered('a status that is a dangling link', (job) => {
    rmSync(join(job.dir, 'status'));
    symlinkSync('nowhere', join(job.dir, 'status'));
  }),
  tampered('a status that is a directory', (job) => {
    rmSync(join(job.dir, 'status'));
    mkdirSync(join(job.dir, 'status'));
  }),
  tampered(
    'a status of another user',
    (job) => chownSync(join(job.dir, 'status'), OTHER_USER, OTHER_USER),
    'root',
  ),
  tampered('a job directory of another user', (job) => chownSync(job.dir, OTHER_USER, OTHER_USER), 'root'),
  tampered('a job directory that is a link', (job, p) => {
    renameSync(job.dir, p.temp.at('moved'));
    symlinkSync(p.temp.at('moved'), job.dir);
  }),
  tolerated('a word without a line end', 'done'),
  tolerated('a word between blanks', ' done \n\n'),
  tolerated('a word and a carriage return', 'done\r\n'),
  tolerated('256 bytes', `done${'\n'.repeat(252)}`),
  {
    name: 'a meta.json that is no JSON hides label and result, not the state',
    shows: ['status <job 1> → 0 "done\\n"', 'result <job 1> → 4 "", and says why'],
    async play(p) {
      const flags = ['--label', 'l', '--result-path', 'result'];
      const job = await p.settledJob(fixture('writes-result.sh', 'result', 'x', 0), flags);
      writeFileSync(join(job.dir, 'meta.json'), '{"label": ');
      await p.cli('status', job.id);
      await p.cli('wait', '--deadline-secs', '1000', job.id);
      await p.cli('result', job.id);
      await p.cli('reap', job.id);
    },
  },
  {
    name: 'a reason that is missing, too long or a link leaves the row without one',
    shows: ['wait --deadline-secs 1000 <job 1> → 0 "-\\t<job 1>\\tfailed\\t<under 1 min>\\nall settled\\n"'],
    async play(p) {
      const job = await p.settledJob(sh('exit 3'));
      const reason = join(job.dir, 'reason');
      await p.cli('wait', '--deadline-secs', '1000', job.id);
      writeFileSync(reason, 'x'.repeat(1025));
      await p.cli('wait', '--deadline-secs', '1000', job.id);
      writeFileSync(reason, '  of two\nlines \n');
      await p.cli('wait', '--deadline-secs', '1000', '--json', job.id);
      rmSync(reason);
      symlinkSync(p.temp.file('secret', 'a secret\n'), reason);
      await p.cli('wait', '--deadline-secs', '1000', job.id);
      rmSync(reason);
      await p.cli('wait', '--deadline-secs', '1000', '--json', job.id);
    },
  },
  {
    name: 'no status and a pid file is running, whatever is in the pid file',
    shows: ['status <job 1> → 0 "never-started\\n"'],
    async play(p) {
      const job = await p.settledJob(sh('true'));
      rmSync(join(job.dir, 'status'));
      rmSync(join(job.dir, 'reason'));
      rmSync(join(job.dir, 'outcome.json'), { force: true });
      rmSync(join(job.dir, 'pid'));
      await p.cli('status', job.id);
      await p.cli('result', job.id);
      await p.cli('reap', job.id);
      await p.cli('wait', '--deadline-secs', '1000', job.id);
      await p.cli('wait', '--deadline-secs', '1000', '--json', job.id);
    },
  },
]);
