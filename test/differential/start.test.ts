import { readdirSync, readFileSync } from 'node:fs';
import { fixture, sh } from '../support/programs.ts';
import { readLog } from '../support/read-job.ts';
import { compare } from './compare.ts';

/** One argument each of what a shell, an option parser or a template would change. */
const AWKWARD = [
  '',
  ' ',
  'two words',
  'new\nline',
  '"\'`\\',
  '$HOME',
  '*',
  '--',
  '--skill',
  '-h',
  'é→\u{1F600}',
  '%s',
  '~',
];

compare('start', [
  {
    name: 'prints the job id alone, and leaves the five files of a finished job, private',
    shows: ['start --skill s --run-id r → 0 "<job 1>\\n"', 'status <job 1> → 0 "done\\n"'],
    async play(p) {
      const job = await p.settledJob(sh('echo out; echo err >&2'));
      await p.cli('status', job.id);
      p.record(job);
    },
  },
  {
    name: 'the job id is the moment in UTC and eight hex digits',
    shows: ['id true'],
    async play(p) {
      const job = await p.settledJob(sh('true'));
      p.say(`id ${/^\d{8}T\d{6}Z-[0-9a-f]{8}$/.test(job.id)}`);
      const moment = job.id.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*/, '$1-$2-$3T$4:$5:$6Z');
      p.say(`minted now ${Math.abs(Date.now() - Date.parse(moment)) < 60_000}`);
    },
  },
  {
    name: 'label, input digest and result path are recorded, the result path made absolute',
    shows: ['start'],
    async play(p) {
      const flags = [
        '--label',
        'codex-5.1_x',
        '--input-digest',
        'sha256:é "1"',
        '--result-path',
        'sub/../result.json',
      ];
      p.record(await p.settledJob(fixture('writes-result.sh', 'result.json', '{}', 0), flags));
    },
  },
  {
    name: 'flags may be given as --flag=value, and twice: the last one holds',
    shows: ['start'],
    async play(p) {
      p.record(
        await p.settledJob(sh('true'), ['--label=one', '--label=two', '--input-digest=a=b', '--run-id=r2']),
      );
    },
  },
  {
    name: '--no-sweep is recorded',
    shows: ['start --skill s --run-id r --no-sweep → 0'],
    async play(p) {
      p.record(await p.settledJob(sh('true'), ['--no-sweep']));
    },
  },
  {
    name: 'an empty label, digest and result path',
    shows: ['start --skill s --run-id r --label  → 1'],
    async play(p) {
      await p.cli('start', '--skill', 's', '--run-id', 'r', '--label', '', '--', 'true');
      p.record(await p.settledJob(sh('true'), ['--input-digest', '', '--result-path', '']));
    },
  },
  {
    name: 'the worker gets its arguments untouched',
    shows: ['arguments ["'],
    async play(p) {
      const job = await p.settledJob(fixture('tells-surroundings.py', 'a', ...AWKWARD));
      p.say(`arguments ${JSON.stringify(JSON.parse(readLog(job.dir)).arguments)}`);
      p.record(job, { log: false });
    },
  },
  {
    name: 'only the first -- ends the flags; a worker may have its own',
    shows: ['log "-- --json --\\n"'],
    async play(p) {
      const job = await p.settledJob(['echo', '--', '--json', '--']);
      p.say(`log ${JSON.stringify(readLog(job.dir))}`);
      p.record(job);
    },
  },
  {
    name: 'a worker found on PATH is recorded and run by its full path',
    shows: ['start'],
    async play(p) {
      p.temp.file('my-worker', '#!/bin/sh\necho "I am $0"\n', 0o755);
      const PATH = `${p.temp.scratch}:${p.temp.env.PATH}`;
      p.record(await p.settledJob(['my-worker', 'x'], [], { extra: { PATH } }));
    },
  },
  {
    name: 'a relative worker path is taken from the working directory of the caller',
    shows: ['start'],
    async play(p) {
      p.temp.file('worker.sh', '#!/bin/sh\necho "I am $0 in $(pwd)"\n', 0o755);
      p.record(await p.settledJob(['./worker.sh']));
      p.record(await p.settledJob(['../scratch/worker.sh']));
    },
  },
  {
    name: 'a worker leads its own session, reads nothing, writes to out.log alone, and works where the caller is',
    shows: ['{"cwd":"<temp>/scratch"'],
    async play(p) {
      const job = await p.settledJob(fixture('tells-surroundings.py'), [], { umask: '027' });
      const { cwd, leads_session, leads_group, terminal, umask, descriptors } = JSON.parse(readLog(job.dir));
      p.say(p.normal(JSON.stringify({ cwd, leads_session, leads_group, terminal, umask, descriptors })));
    },
  },
  {
    name: "a worker gets the caller's environment and its job id, and nothing is taken away",
    shows: ['{"CE_PEER_GRACE_SECS":"1","CE_PEER_JOBS_ROOT":"<temp>/base","CE_PEER_JOB_ID":"<job 1>",'],
    async play(p) {
      const env = {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        LC_ALL: 'C.UTF-8',
        TWO: 'two\nlines',
        EMPTY: '',
        CE_PEER_JOB_ID: 'of an outer job',
      };
      const job = await p.settledJob(fixture('tells-surroundings.py'), [], { env });
      const environment: Record<string, string> = JSON.parse(readLog(job.dir)).environment;
      // The reference's own addition is an intended difference.
      const names = Object.keys(environment)
        .filter((name) => name !== 'CE_PEER_PYTHON')
        .sort();
      p.say(p.normal(JSON.stringify(Object.fromEntries(names.map((name) => [name, environment[name]])))));
    },
  },
  {
    name: 'environment values do not reach the disk',
    shows: ['on disk false'],
    async play(p) {
      const job = await p.settledJob(sh('true'), [], { extra: { TOKEN: 'hunter2-hunter2' } });
      const files = readdirSync(job.dir).map((name) => readFileSync(`${job.dir}/${name}`, 'utf8'));
      p.say(`on disk ${files.some((text) => text.includes('hunter2-hunter2'))}`);
    },
  },
  {
    name: 'modes are 0600 and 0700 whatever the umask',
    shows: ['start'],
    async play(p) {
      p.record(await p.settledJob(sh('true'), [], { umask: '000' }));
      p.record(await p.settledJob(sh('true'), ['--run-id', 'r2'], { umask: '077' }));
    },
  },
  {
    name: 'output is kept byte for byte',
    shows: ['log "AAEKDQoa/4A="'],
    async play(p) {
      const job = await p.settledJob(sh("printf '\\000\\001\\n\\r\\n\\032\\377\\200'"));
      const log = readFileSync(`${job.dir}/out.log`);
      p.say(`log ${JSON.stringify(log.toString('base64'))}`);
    },
  },
  {
    name: 'start returns at once though its worker goes on, and keeps no pipe of the caller open',
    shows: ['status <job 1> → 0 "running\\n"'],
    async play(p) {
      // A pipe left open would keep the call from ending before its timeout.
      const job = await p.start(fixture('ignores-term.sh'), [], { timeoutMs: 45_000 });
      await p.ready(job);
      await p.cli('status', job.id);
      p.record(job);
    },
  },
  {
    name: 'two jobs of one run are two directories beside each other',
    shows: ['status <job 1> <job 2> → 0 "<job 1>\\tdone\\n<job 2>\\tfailed\\n"'],
    async play(p) {
      const one = await p.settledJob(sh('true'));
      const two = await p.settledJob(sh('exit 1'));
      p.record(one);
      p.record(two);
      await p.cli('status', one.id, two.id);
    },
  },
  {
    name: 'CE_PEER_JOBS_ROOT may be relative to the working directory',
    shows: ['start'],
    async play(p) {
      const job = await p.settledJob(sh('true'), [], { extra: { CE_PEER_JOBS_ROOT: 'own/../relative' } });
      p.say(p.normal(job.dir));
      await p.cliWith({ extra: { CE_PEER_JOBS_ROOT: './relative' } }, 'status', '--json', job.id);
    },
  },
  {
    name: 'paths outside ASCII are written as JSON escapes in --json',
    shows: [
      'status --json <job 1> → 0 "[{\\"ref\\": \\"<job 1>\\", \\"job_dir\\": \\"<temp>/b\\\\u00e4se \\\\ud83d\\\\ude00/s/r/jobs/<job 1>\\"',
    ],
    async play(p) {
      const extra = { CE_PEER_JOBS_ROOT: `${p.temp.root}/bäse \u{1F600}` };
      const job = await p.settledJob(sh('true'), [], { extra });
      await p.cliWith({ extra }, 'status', '--json', job.id);
      await p.cliWith({ extra }, 'status', '--json', job.dir);
      await p.cliWith({ extra }, 'wait', '--json', '--deadline-secs', '100', job.dir);
      await p.cliWith({ extra }, 'wait', '--deadline-secs', '100', job.dir);
    },
  },
]);
