import { deepEqual, equal, ok } from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, js, lives, pidsOf, settled } from './jobs.ts';
import { eventually } from './patience.ts';
import { scenario } from './scenario.ts';

scenario(
  '20 jobs started by 20 callers at once: 20 ids, 20 true outcomes, no survivor, no stray file',
  async (temp) => {
    const worker = js(
      "fs.writeFileSync(process.env.CE_PEER_JOB_ID,'x');process.exitCode=Number(process.argv[1])",
    );
    const jobs = await Promise.all(
      Array.from({ length: 20 }, (_, index) => temp.start([...worker, String(index % 2)], ['--no-sweep'])),
    );
    equal(new Set(jobs.map((job) => job.id)).size, 20);
    for (const [index, job] of jobs.entries()) {
      equal(await settled(job), index % 2 === 0 ? 'done' : 'failed');
      ok(existsSync(temp.at(job.id)));
      await eventually(() => readdirSync(job.dir).length === 6);
    }
  },
);

scenario('a key raced by ten callers starts one job, and all ten get its id', async (temp) => {
  const worker = js("fs.appendFileSync('ran','x');say('ready '+process.pid);setInterval(()=>{},1e6)");
  const jobs = await Promise.all(
    Array.from({ length: 10 }, () => temp.start(worker, ['--key', 'a key of/any [content]*'])),
  );
  const [job, ...others] = jobs;
  if (!job) throw new Error('no job');
  deepEqual(
    others.map(({ id }) => id),
    others.map(() => job.id),
  );
  await eventually(() => existsSync(temp.at('ran')));
  equal(readFileSync(temp.at('ran'), 'utf8'), 'x');
  deepEqual(readdirSync(join(job.dir, '..')), [job.id]);
  equal(await temp.ask('reap', job.id), '0 ""');
});

const THREE_DAYS_AGO = Date.now() / 1000 - 3 * 24 * 3600;

/** Makes a folder and everything below it look three days old. */
function age(path: string): void {
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) age(join(path, name));
  utimesSync(path, THREE_DAYS_AGO, THREE_DAYS_AGO);
}

scenario('the sweep of a start removes old runs beside its own, and spares young ones', async (temp) => {
  for (const run of ['old', 'young']) {
    const job = await temp.start(js(''), ['--no-sweep'], {}, run);
    await settled(job);
    await eventually(() => !isAlive(pidsOf(job).supervisor_pid));
  }
  const runs = (): string => readdirSync(join(temp.base, 's')).sort().join();
  const live = await temp.start(lives, ['--no-sweep'], {}, 'live');
  for (const run of ['old', 'live']) age(join(temp.base, 's', run));
  // A start gives little time to it: on a slow machine the next one goes on.
  for (let round = 0; round < 8 && runs().includes('old'); round += 1) {
    await settled(await temp.start(js(''), [], {}, 'new'));
  }
  equal(runs(), 'live,new,young');
  equal(await temp.ask('reap', live.id), '0 ""');
});
