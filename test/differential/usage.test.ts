import { listDirectory } from '../support/read-job.ts';
import { compare, type Scenario } from './compare.ts';

const LONG = 'x'.repeat(300);
const LONGEST = 'x'.repeat(255);

const START = ['start', '--skill', 's', '--run-id', 'r'];

/** A call that is refused with this code, prints nothing on standard output and touches nothing. */
function refused(name: string, code: number, args: readonly string[]): Scenario {
  const shown = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  return {
    name: `${name}: exit ${code}, nothing done`,
    shows: [`${shown.join(' ')} → ${code} "", and says why`],
    async play(p) {
      await p.cli(...args);
      p.say(`jobs ${p.temp.ledger.living().length}, in the base ${listDirectory(p.temp.base)}`);
    },
  };
}

const badNames: [string, string][] = [
  ['with a slash', 'a/b'],
  ['that is a dot', '.'],
  ['of two dots', '..'],
  ['of many dots', '....'],
  ['that is empty', ''],
  ['with a space', 'a b'],
  ['with a line end inside', 'a\nb'],
  ['outside ASCII', 'é'],
  ['with a pattern in it', 'a*'],
  ['with a colon', 'a:b'],
];

const goodNames = ['-dash', '_', 'a..b', 'a.', 'A-1.x_Z', '0', LONGEST];

compare('usage', [
  ...badNames.flatMap(([what, name]) => [
    refused(`a skill ${what}`, 1, ['start', `--skill=${name}`, '--run-id', 'r', '--', 'true']),
    refused(`a run id ${what}`, 1, ['start', '--skill', 's', `--run-id=${name}`, '--', 'true']),
    refused(`a label ${what}`, 1, [...START, `--label=${name}`, '--', 'true']),
  ]),
  ...goodNames.map(
    (name): Scenario => ({
      name: `${name.slice(0, 10)} (${name.length} characters) is a fine skill, run id and label`,
      shows: ['start --skill s --run-id r --skill=', `status --skill=${name} <job 1> → 0 "done\\n"`],
      async play(p) {
        const job = await p.settledJob(['true'], [`--skill=${name}`, `--run-id=${name}`, `--label=${name}`]);
        p.record(job);
        await p.cli('status', `--skill=${name}`, job.id);
      },
    }),
  ),
  {
    name: 'a skill of 300 characters is no file name: exit 1',
    shows: [`start --skill ${LONG} --run-id r → 1 ""`],
    async play(p) {
      await p.cli('start', '--skill', LONG, '--run-id', 'r', '--', 'true');
    },
  },
  {
    name: 'a run id of 300 characters is no file name: exit 1',
    shows: [`start --skill s --run-id ${LONG} → 1 ""`],
    async play(p) {
      await p.cli('start', '--skill', 's', '--run-id', LONG, '--', 'true');
    },
  },
  {
    name: 'a name may begin with a dot; the jobs of such a run are found by path alone',
    shows: ['status <job 1> → 1 ""', 'status <temp>/base/s/.run/jobs/<job 1> → 0 "done\\n"'],
    async play(p) {
      const inRun = await p.settledJob(['true'], ['--run-id', '.run']);
      await p.cli('status', inRun.id);
      await p.cli('status', '--skill', 's', inRun.id);
      await p.cli('status', inRun.dir);
      const inSkill = await p.settledJob(['true'], ['--skill', '.skill']);
      await p.cli('status', inSkill.id);
      await p.cli('status', '--skill', '.skill', inSkill.id);
    },
  },
  refused('no worker and no --', 1, START),
  refused('no worker after --', 1, [...START, '--']),
  refused('start without --skill', 2, ['start', '--run-id', 'r', '--', 'true']),
  refused('start without --run-id', 2, ['start', '--skill', 's', '--', 'true']),
  refused('start without anything', 2, ['start']),
  refused('--skill without its value', 2, ['start', '--run-id', 'r', '--skill', '--', 'true']),
  refused('a flag where a value should be', 2, ['start', '--skill', '--run-id', 'r', '--', 'true']),
  refused('a worker that is not behind --', 2, [...START, 'true']),
  refused('an unknown flag', 2, [...START, '--nonsense', '--', 'true']),
  refused('a value for a flag that takes none', 2, [...START, '--no-sweep=yes', '--', 'true']),
  refused('an unknown command', 2, ['begin', 'x']),
  refused('no command', 2, []),
  refused('a flag instead of a command', 2, ['--skill', 's']),
  refused('status without a job', 2, ['status']),
  refused('wait without a job', 2, ['wait']),
  refused('reap without a job', 2, ['reap']),
  refused('result without a job and without --path', 2, ['result']),
  refused('result with an empty --path and no job', 2, ['result', '--path', '']),
  refused('result of two jobs', 2, ['result', 'one', 'two']),
  refused('status with an unknown flag', 2, ['status', '--verbose', 'x']),
  refused('reap with --path', 2, ['reap', '--path', 'x', 'x']),
  ...['abc', '', '5s', '1,5'].map((secs) =>
    refused(`wait --max-secs ${secs || 'empty'}`, 2, ['wait', `--max-secs=${secs}`, 'x']),
  ),
  ...['abc', '', '-1', 'nan', 'inf'].flatMap((secs) => [
    refused(`wait --deadline-secs ${secs || 'empty'}`, 2, ['wait', `--deadline-secs=${secs}`, 'x']),
    refused(`wait --deadline-grace-secs ${secs || 'empty'}`, 2, [
      'wait',
      `--deadline-grace-secs=${secs}`,
      'x',
    ]),
  ]),
  ...[
    ['--help'],
    ['-h'],
    ['start', '--help'],
    ['status', '-h'],
    ['wait', '--help'],
    ['result', '--help'],
    ['reap', '-h'],
  ].map(
    (args): Scenario => ({
      name: `${args.join(' ')}: exit 0, help on standard output`,
      shows: ['help 0 long true'],
      async play(p) {
        // The wording is each side's own.
        const run = await p.temp.run(p.side, args);
        p.say(`help ${run.code} long ${run.stdout.length > 200} stderr ${JSON.stringify(run.stderr)}`);
      },
    }),
  ),
]);
