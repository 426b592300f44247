import { chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { fixture, sh } from '../support/programs.ts';
import { compare, type Scenario } from './compare.ts';
import type { Job, Play } from './play.ts';

const OTHER_USER = 65_534;

const withResult = (p: Play, text = 'the result\n'): Promise<Job> =>
  p.settledJob(fixture('writes-result.sh', 'result', text, 0), ['--result-path', 'result']);

/** `result --path FILE`, of a file that was made so, alone and with the jobs that may be named along with it. */
function path(name: string, shows: string, prepare: (play: Play) => string, needs?: 'root'): Scenario {
  return {
    name: `--path of ${name}`,
    needs,
    shows: [shows],
    async play(p) {
      const file = prepare(p);
      await p.cli('result', '--path', file);
      const done = await withResult(p);
      await p.cli('result', done.id, '--path', file);
      await p.cli('result', '--path', file, 'no-such-job');
    },
  };
}

compare('result', [
  {
    name: 'a done job: the bytes exactly',
    shows: ['result <job 1> → 0 base64:AAEKDQoa/4DDqQ=='],
    async play(p) {
      p.temp.file('bytes', Buffer.from([0, 1, 10, 13, 10, 26, 255, 128, 0xc3, 0xa9]));
      const job = await p.settledJob(sh('cp bytes result'), ['--result-path', 'result']);
      await p.cli('result', job.id);
      await p.cli('result', '--skill', 's', job.dir);
    },
  },
  {
    name: 'a result of some megabytes comes whole',
    shows: ['bytes 4000000'],
    async play(p) {
      const job = await p.settledJob(sh('head -c 4000000 /dev/zero > result'), ['--result-path', 'result']);
      const run = await p.temp.run(p.side, ['result', job.id]);
      p.say(`bytes ${run.stdout.length} ${run.code}`);
    },
  },
  {
    name: 'a running job: 2, and nothing, even if its result is there already',
    shows: ['result <job 1> → 2 "", and says why'],
    async play(p) {
      p.temp.file('result', 'early');
      const job = await p.start(sh('sleep 60'), ['--result-path', 'result']);
      await p.cli('result', job.id);
    },
  },
  {
    name: 'a failed job: 3, and nothing, even if its result is there',
    shows: ['result <job 1> → 3 "", and says why'],
    async play(p) {
      const worker = fixture('writes-result.sh', 'result', 'half', 0, 3);
      await p.cli('result', (await p.settledJob(worker, ['--result-path', 'result'])).id);
    },
  },
  {
    name: 'a never-started job: 3',
    shows: ['result <job 1> → 3 "", and says why'],
    async play(p) {
      await p.cli('start', '--skill', 's', '--run-id', 'r', '--', 'no-such-program');
      await p.cli('result', p.leftBehind().id);
    },
  },
  {
    name: 'an unknown job: 1',
    shows: ['result 20260101T000000Z-00000000 → 1 "", and says why'],
    async play(p) {
      await p.cli('result', '20260101T000000Z-00000000');
    },
  },
  {
    name: 'a done job that declared none: 0, and nothing',
    shows: ['result <job 1> → 0 ""'],
    async play(p) {
      await p.cli('result', (await p.settledJob(sh('true'))).id);
    },
  },
  {
    name: 'larger than the cap of the reader: 4, and nothing; at the cap: all of it',
    shows: ['result <job 1> → 4 "", and says why', 'result <job 1> → 0 "the result\\n"'],
    async play(p) {
      const job = await withResult(p);
      await p.cliWith({ extra: { CE_PEER_RESULT_MAX_BYTES: '10' } }, 'result', job.id);
      await p.cliWith({ extra: { CE_PEER_RESULT_MAX_BYTES: '11' } }, 'result', job.id);
    },
  },
  {
    name: 'gone since the job was done: 3',
    shows: ['result <job 1> → 3 "", and says why'],
    async play(p) {
      const job = await withResult(p);
      rmSync(p.temp.at('result'));
      await p.cli('result', job.id);
    },
  },
  {
    name: 'emptied since the job was done: 0, and nothing',
    shows: ['result <job 1> → 0 ""'],
    async play(p) {
      const job = await withResult(p);
      writeFileSync(p.temp.at('result'), '');
      await p.cli('result', job.id);
    },
  },
  {
    name: 'replaced by a directory since: 4',
    shows: ['result <job 1> → 4 "", and says why'],
    async play(p) {
      const job = await withResult(p);
      rmSync(p.temp.at('result'));
      mkdirSync(p.temp.at('result'));
      await p.cli('result', job.id);
    },
  },
  {
    name: 'given to another user since: 4',
    needs: 'root',
    shows: ['result <job 1> → 4 "", and says why'],
    async play(p) {
      const job = await withResult(p);
      chownSync(p.temp.at('result'), OTHER_USER, OTHER_USER);
      await p.cli('result', job.id);
    },
  },
]);

compare('result --path', [
  path('a file: its bytes, whatever the job', 'result --path plain → 0 "plain\\n"', (p) => {
    p.temp.file('plain', 'plain\n');
    return 'plain';
  }),
  path('an absolute path', 'result --path <temp>/scratch/plain → 0 "plain\\n"', (p) =>
    p.temp.file('plain', 'plain\n'),
  ),
  path('an empty file: nothing, exit 0', 'result --path empty → 0 ""', (p) => {
    p.temp.file('empty', '');
    return 'empty';
  }),
  path('a file behind a linked directory: its bytes', 'result --path link/plain → 0 "x"', (p) => {
    mkdirSync(p.temp.at('real'));
    writeFileSync(p.temp.at('real/plain'), 'x');
    symlinkSync('real', p.temp.at('link'));
    return 'link/plain';
  }),
  path('a link to a file: 4', 'result --path link → 4 "", and says why', (p) => {
    symlinkSync(p.temp.file('plain', 'plain\n'), p.temp.at('link'));
    return 'link';
  }),
  path('a dangling link: 4', 'result --path link → 4 "", and says why', (p) => {
    symlinkSync('nowhere', p.temp.at('link'));
    return 'link';
  }),
  path('a directory: 4', 'result --path dir → 4 "", and says why', (p) => {
    mkdirSync(p.temp.at('dir'));
    return 'dir';
  }),
  path('a device: 4', 'result --path /dev/null → 4 "", and says why', () => '/dev/null'),
  path('something below a file: 4', 'result --path plain/x → 4 "", and says why', (p) => {
    p.temp.file('plain', '');
    return 'plain/x';
  }),
  path('a name too long for a file: 4', 'result --path xxxxx', () => 'x'.repeat(300)),
  path(
    'a file of another user: 4',
    'result --path plain → 4 "", and says why',
    (p) => {
      chownSync(p.temp.file('plain', 'secret'), OTHER_USER, OTHER_USER);
      return 'plain';
    },
    'root',
  ),
  {
    name: 'a file over the cap: 4',
    shows: ['result --path plain → 4 "", and says why'],
    async play(p) {
      p.temp.file('plain', 'twelve bytes');
      await p.cliWith({ extra: { CE_PEER_RESULT_MAX_BYTES: '11' } }, 'result', '--path', 'plain');
      await p.cliWith({ extra: { CE_PEER_RESULT_MAX_BYTES: '12' } }, 'result', '--path', 'plain');
    },
  },
  {
    name: 'an absent file: 3 alone, else by the state of the job',
    shows: [
      'result --path absent → 3 "", and says why',
      'result <job 1> --path absent → 3 "", and says why',
      'result <job 2> --path absent → 3 "", and says why',
      'result <job 3> --path absent → 3 "", and says why',
      'result <job 4> --path absent → 2 "", and says why',
      'result nope --path absent → 1 "", and says why',
      'result --skill other <job 1> --path absent → 1 "", and says why',
    ],
    async play(p) {
      await p.cli('result', '--path', 'absent');
      const done = await p.settledJob(sh('true'));
      const failed = await p.settledJob(sh('false'));
      await p.cli('start', '--skill', 's', '--run-id', 'r', '--', 'no-such-program');
      const never = p.leftBehind();
      const running = await p.start(sh('sleep 60'));
      for (const job of [done, failed, never, running]) await p.cli('result', job.id, '--path', 'absent');
      for (const ref of ['nope', '..', './nope']) await p.cli('result', ref, '--path', 'absent');
      await p.cli('result', '--skill', 'other', done.id, '--path', 'absent');
      await p.cli('result', '--path', 'absent/below', done.id);
      await p.cli('result', '--path=absent', done.dir);
    },
  },
  {
    name: 'a file is emitted though its job runs, has failed or is unknown',
    shows: ['result <job 1> --path plain → 0 "plain"', 'result nope --path plain → 0 "plain"'],
    async play(p) {
      p.temp.file('plain', 'plain');
      const running = await p.start(sh('sleep 60'));
      await p.cli('result', running.id, '--path', 'plain');
      const failed = await p.settledJob(sh('false'));
      await p.cli('result', failed.id, '--path', 'plain');
      await p.cli('result', 'nope', '--path', 'plain');
    },
  },
]);
