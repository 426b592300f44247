import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { sh } from '../support/programs.ts';
import { listDirectory, modeOf } from '../support/read-job.ts';
import { compare, type Scenario } from './compare.ts';
import type { Play } from './play.ts';

const OTHER_USER = 65_534;
const DAY_SECS = 24 * 3600;

/** A start that must abort because of what lies at or below the base, without a change to it. */
function aborts(name: string, prepare: (play: Play) => void, needs?: 'root'): Scenario {
  return {
    name: `${name}: exit 1, and nothing is put there`,
    needs,
    shows: ['start --skill s --run-id r → 1 "", and says why'],
    async play(p) {
      prepare(p);
      await p.cli('start', '--skill', 's', '--run-id', 'r', '--', 'true');
      p.say(`scratch ${listDirectory(p.temp.scratch)}, planted ${listDirectory(p.temp.at('planted'))}`);
    },
  };
}

const plant = (p: Play): string => {
  mkdirSync(p.temp.at('planted'), { recursive: true });
  return p.temp.at('planted');
};
const below = (p: Play, ...names: string[]): string => {
  const path = join(p.temp.base, ...names);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return path;
};

compare('base directory', [
  {
    name: 'is made 0700 with everything below it, whatever the umask',
    shows: ['start'],
    async play(p) {
      p.record(await p.settledJob(sh('true'), [], { umask: '007' }));
    },
  },
  {
    name: 'that is there, empty and 0755, is repaired to 0700',
    shows: ['mode 0700'],
    async play(p) {
      mkdirSync(p.temp.base);
      chmodSync(p.temp.base, 0o755);
      const job = await p.settledJob(sh('true'));
      p.say(`mode ${modeOf(p.temp.base)}`);
      p.record(job);
    },
  },
  {
    name: 'that is ours and was opened since is repaired to 0700; the folders below are left as they are',
    shows: ['modes 0700 0750'],
    async play(p) {
      const job = await p.settledJob(sh('true'));
      chmodSync(p.temp.base, 0o777);
      chmodSync(join(p.temp.base, 's'), 0o750);
      await p.cli('status', job.id);
      p.say(`mode after a look ${modeOf(p.temp.base)}`);
      await p.settledJob(sh('true'));
      p.say(`modes ${modeOf(p.temp.base)} ${modeOf(join(p.temp.base, 's'))}`);
    },
  },
  {
    name: 'behind a linked directory is fine',
    shows: ['status <job 1> → 0 "done\\n"'],
    async play(p) {
      symlinkSync(plant(p), p.temp.at('link'));
      const extra = { CE_PEER_JOBS_ROOT: p.temp.at('link/base') };
      const job = await p.settledJob(sh('true'), [], { extra });
      await p.cliWith({ extra }, 'status', job.id);
    },
  },
  aborts('a link to a directory as the base', (p) => symlinkSync(plant(p), p.temp.base)),
  aborts('a dangling link as the base', (p) => symlinkSync('nowhere', p.temp.base)),
  aborts('a file as the base', (p) => writeFileSync(p.temp.base, '')),
  aborts('a link as the skill directory', (p) => symlinkSync(plant(p), below(p, 's'))),
  aborts('a file as the skill directory', (p) => writeFileSync(below(p, 's'), '')),
  aborts('a link as the run directory', (p) => symlinkSync(plant(p), below(p, 's', 'r'))),
  aborts('a file as the run directory', (p) => writeFileSync(below(p, 's', 'r'), '')),
  aborts('a link as the jobs directory', (p) => symlinkSync(plant(p), below(p, 's', 'r', 'jobs'))),
  aborts('a file as the jobs directory', (p) => writeFileSync(below(p, 's', 'r', 'jobs'), '')),
  aborts(
    'a base of another user',
    (p) => {
      mkdirSync(p.temp.base);
      chownSync(p.temp.base, OTHER_USER, OTHER_USER);
    },
    'root',
  ),
  aborts(
    'a skill directory of another user',
    (p) => {
      mkdirSync(below(p, 's'));
      chownSync(join(p.temp.base, 's'), OTHER_USER, OTHER_USER);
    },
    'root',
  ),
]);

/** A run folder with one settled job in it, as old as that in every time stamp. */
function oldRun(dir: string, ageSecs: number): void {
  const job = join(dir, 'jobs', '20200101T000000Z-0badcafe');
  mkdirSync(job, { recursive: true, mode: 0o700 });
  const then = Date.now() / 1000 - ageSecs;
  const started_at = `${new Date(then * 1000).toISOString().slice(0, 19)}Z`;
  const files = {
    'meta.json': JSON.stringify({ job_id: '20200101T000000Z-0badcafe', skill: 's', run_id: 'x', started_at }),
    pid: '{"supervisor_pid": 4194303, "worker_pid": 4194302, "supervisor_pgid": 4194301}\n',
    'out.log': '',
    reason: 'worker exited 0\n',
    status: 'done\n',
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(job, name), text, { mode: 0o600 });
    utimesSync(join(job, name), then, then);
  }
  for (const path of [job, join(dir, 'jobs'), dir]) utimesSync(path, then, then);
}

const runsOf = (p: Play, skill = 's'): string => listDirectory(join(p.temp.base, skill)).join(' ');

/** Starts jobs until the sweep is done: a start on a slow machine leaves to the next one what it has no time for. */
async function swept(p: Play, isDone: () => boolean, skill = 's', extra = {}): Promise<void> {
  await eventually(async () => {
    if (isDone()) return true;
    await p.temp.run(p.side, ['start', '--skill', skill, '--run-id', 'r', '--', ...sh('true')], { extra });
    return false;
  });
}

compare('sweep', [
  {
    name: 'a start removes sibling runs older than 24 h, and keeps younger ones and those of other skills',
    shows: ['runs of s: r young', 'runs of other: old'],
    async play(p) {
      oldRun(join(p.temp.base, 's', 'old'), DAY_SECS + 600);
      oldRun(join(p.temp.base, 's', 'ancient'), 400 * DAY_SECS);
      oldRun(join(p.temp.base, 's', 'young'), DAY_SECS - 600);
      oldRun(join(p.temp.base, 'other', 'old'), DAY_SECS + 600);
      await p.settledJob(sh('true'));
      await swept(p, () => !/old|ancient/.test(runsOf(p)));
      p.say(`runs of s: ${runsOf(p)}`);
      p.say(`runs of other: ${runsOf(p, 'other')}`);
    },
  },
  {
    name: '--no-sweep keeps them all',
    shows: ['runs of s: old r'],
    async play(p) {
      oldRun(join(p.temp.base, 's', 'old'), 3 * DAY_SECS);
      await p.settledJob(sh('true'), ['--no-sweep']);
      p.say(`runs of s: ${runsOf(p)}`);
    },
  },
  {
    name: 'the run that the job is started in is kept, however old',
    shows: ['jobs 2'],
    async play(p) {
      oldRun(join(p.temp.base, 's', 'r'), 3 * DAY_SECS);
      await p.settledJob(sh('true'));
      p.say(`jobs ${listDirectory(join(p.temp.base, 's', 'r', 'jobs')).length}`);
    },
  },
  {
    name: 'files and links beside the runs are no runs: kept, and what a link points to as well',
    shows: ['runs of s: link note r', 'target true'],
    async play(p) {
      oldRun(p.temp.at('elsewhere'), 3 * DAY_SECS);
      mkdirSync(join(p.temp.base, 's'), { recursive: true, mode: 0o700 });
      const then = Date.now() / 1000 - 3 * DAY_SECS;
      symlinkSync(p.temp.at('elsewhere'), join(p.temp.base, 's', 'link'));
      writeFileSync(join(p.temp.base, 's', 'note'), '');
      utimesSync(join(p.temp.base, 's', 'note'), then, then);
      await p.settledJob(sh('true'));
      p.say(`runs of s: ${runsOf(p)}`);
      p.say(`target ${existsSync(p.temp.at('elsewhere/jobs'))}`);
    },
  },
  {
    name: 'a link inside an old run goes with it; what it points to stays',
    shows: ['runs of s: r', 'target file,outer'],
    async play(p) {
      const target = plant(p);
      writeFileSync(join(target, 'file'), '');
      mkdirSync(join(target, 'outer'));
      const run = join(p.temp.base, 's', 'old');
      oldRun(run, 3 * DAY_SECS);
      symlinkSync(target, join(run, 'jobs', 'link'));
      const { atimeMs, mtimeMs } = lstatSync(join(run, 'jobs', '20200101T000000Z-0badcafe'));
      for (const path of [join(run, 'jobs'), run]) utimesSync(path, atimeMs / 1000, mtimeMs / 1000);
      await p.settledJob(sh('true'));
      await swept(p, () => runsOf(p) === 'r');
      p.say(`runs of s: ${runsOf(p)}`);
      p.say(`target ${listDirectory(target)}`);
    },
  },
  {
    name: 'ce-work sweeps below CE_WORK_RUNS_ROOT',
    shows: ['runs r'],
    async play(p) {
      const extra = { CE_WORK_RUNS_ROOT: p.temp.at('work') };
      oldRun(p.temp.at('work/old'), 3 * DAY_SECS);
      await p.settledJob(sh('true'), ['--skill', 'ce-work'], { extra });
      await swept(p, () => listDirectory(p.temp.at('work')).length === 1, 'ce-work', extra);
      p.say(`runs ${listDirectory(p.temp.at('work'))}`);
    },
  },
]);
