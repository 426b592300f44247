import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { supervises } from '../../../runner-core/platform/win32-marks.ts';
import { listProcesses } from '../../../runner-core/platform/win32-process.ts';
import {
  fixture,
  gone,
  isAlive,
  js,
  kill,
  lives,
  logOf,
  pidsOf,
  ready,
  reasonOf,
  recordPath,
  settled,
  waitsFor,
} from './jobs.ts';
import { eventually } from './patience.ts';
import { scenario } from './scenario.ts';
import { type Job, type PidRecord, type TempBase, textOf } from './temp-base.ts';

async function killSupervisor(job: Job): Promise<number> {
  const { supervisor_pid } = pidsOf(job);
  await kill(supervisor_pid);
  return supervisor_pid;
}

scenario(
  'supervisor and worker were killed: "status" records that it died without a result',
  async (temp) => {
    const job = await temp.start(lives);
    const [worker] = await ready(job);
    await killSupervisor(job);
    await kill(worker);
    equal(await temp.ask('status', job.id), '0 "died-without-result\\n"');
    ok(textOf(job.dir, 'outcome.json')?.includes('"classified_by": "caller"'));
  },
);

scenario('supervisor and worker were killed: "wait" finds the result that is there: done', async (temp) => {
  const job = await temp.start(
    js("fs.writeFileSync('out','x');say('ready '+process.pid);setInterval(()=>{},1e6)"),
    ['--result-path', 'out'],
  );
  const [worker] = await ready(job);
  await killSupervisor(job);
  await kill(worker);
  equal(await temp.ask('wait', job.id), '0 "done\\n"');
});

const TALKS = `${waitsFor('go')}say('ready '+process.pid);setInterval(()=>say('x'),100);until(()=>{fs.writeFileSync('out','x');process.exit()})`;

scenario(
  'only the supervisor was killed: the log goes on growing, and the result that comes later makes it done',
  async (temp) => {
    const job = await temp.start(js(TALKS), ['--result-path', 'out']);
    await ready(job);
    const first = await killSupervisor(job);
    const length = logOf(job).length;
    equal(await temp.ask('status', job.id), '0 "running\\n"');
    const adopter = pidsOf(job).supervisor_pid;
    notEqual(adopter, first);
    ok(isAlive(adopter));
    await eventually(() => logOf(job).length > length);
    temp.file('go', '');
    equal(await settled(job), 'done');
    ok(textOf(job.dir, 'outcome.json')?.includes('"classified_by": "adopter"'));
  },
);

scenario('only the supervisor was killed: the hard window counts from the real start', async (temp) => {
  const job = await temp.start(js("say('ready '+process.pid);setInterval(()=>say('x'),100)"), [
    '--hard-secs',
    '25',
  ]);
  const from = Date.parse(JSON.parse(textOf(job.dir, 'meta.json') ?? '').started_at);
  await ready(job);
  await killSupervisor(job);
  equal(await temp.ask('status', job.id), '0 "running\\n"');
  const adopted = Date.now();
  equal(await settled(job), 'timeout');
  const ended = Date.parse(JSON.parse(textOf(job.dir, 'outcome.json') ?? '').ended_at);
  ok(ended >= from + 24_000 && ended < adopted + 25_000, `ended ${ended - from} ms after the start`);
});

scenario(
  'only the supervisor was killed: the adopter can be killed in turn, and the next one too',
  async (temp) => {
    const job = await temp.start(js(TALKS), ['--result-path', 'out']);
    await ready(job);
    const seen = new Set([pidsOf(job).supervisor_pid]);
    for (let round = 0; round < 2; round += 1) {
      await killSupervisor(job);
      equal(await temp.ask('wait', '--max-secs', '0', job.id), '0 "running\\n"');
      seen.add(pidsOf(job).supervisor_pid);
    }
    equal(seen.size, 3);
    temp.file('go', '');
    equal(await settled(job), 'done');
  },
);

const TORN = [
  ['torn', () => '{"supervisor_pid": 12'],
  // As it is from before there is a worker until that is on record, with and without the job object to go by.
  ['without a worker', (record: PidRecord) => JSON.stringify({ ...record, worker_pid: null })],
  [
    'without a worker or a job object that it is in',
    (record: PidRecord) => JSON.stringify({ ...record, worker_pid: null, job_name: 'Local\\no-such-job' }),
  ],
] as const;

for (const [what, text] of TORN) {
  scenario(
    `a pid record that is ${what}, with only the worker alive, is put right: the worker is adopted`,
    async (temp) => {
      const job = await temp.start(fixture('family.cjs'));
      const members = await ready(job);
      const record = pidsOf(job);
      await killSupervisor(job);
      writeFileSync(recordPath(job), text(record));
      equal(await temp.ask('status', job.id), '0 "running\\n"');
      equal(pidsOf(job).worker_pid, members[0]);
      equal(await temp.ask('reap', job.id), '0 ""');
      equal(await settled(job), 'timeout');
      await gone(members);
    },
  );
}

const CALLERS = 8;

/** The answers of eight callers that ask at once. */
function asked(temp: TempBase, job: Job): Promise<string[]> {
  return Promise.all(Array.from({ length: CALLERS }, () => temp.ask('status', job.id)));
}

scenario('races: eight callers settle a job: one record, which stays (1 times)', async (temp) => {
  const job = await temp.start(lives);
  const [worker] = await ready(job);
  await killSupervisor(job);
  await kill(worker);
  for (const answer of await asked(temp, job)) equal(answer, '0 "died-without-result\\n"');
  await eventually(() => readdirSync(job.dir).length === 6);
  const record = textOf(job.dir, 'outcome.json');
  equal(await temp.ask('reap', job.id), '0 ""');
  equal(textOf(job.dir, 'outcome.json'), record);
});

scenario('races: eight callers adopt a worker: one supervisor (1 times)', async (temp) => {
  const job = await temp.start(js(TALKS), ['--result-path', 'out']);
  await ready(job);
  await killSupervisor(job);
  for (const answer of await asked(temp, job)) equal(answer, '0 "running\\n"');
  const supervisors = listProcesses().filter(({ pid }) => supervises(pid) === job.id);
  deepEqual(
    supervisors.map(({ pid }) => pid),
    [pidsOf(job).supervisor_pid],
  );
  temp.file('go', '');
  equal(await settled(job), 'done');
});

scenario('an empty status does not keep reap from ending a living worker', async (temp) => {
  const job = await temp.start(lives);
  const [worker] = await ready(job);
  writeFileSync(join(job.dir, 'status'), '');
  match(await temp.ask('reap', job.id), /^0 /);
  await gone([worker]);
  match(reasonOf(job), /reaped/);
});
