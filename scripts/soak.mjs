// Holds one server under load for a time, and fails if it grows. `npm run soak -- --minutes 60`
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, jobs: { type: 'string', default: '4' } },
});
const untilMs = performance.now() + Number(values.minutes) * 60_000;
const atOnce = Number(values.jobs);
/** The first rounds fill caches and let the heap find its size. */
const WARM_UP = 0.2;
const GROWTH_MAX_KIB = 24 * 1024;
const SAMPLE_MS = 10_000;

const serverFile = fileURLToPath(new URL('../dist/server.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'peer-jobs-soak-'));
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [serverFile, '--root', join(folder, 'jobs')],
  cwd: folder,
  stderr: 'inherit',
});
const client = new Client({ name: 'soak', version: '1' });
await client.connect(transport);
const { pid } = transport;

async function call(name, args, options) {
  const answer = await client.callTool({ name, arguments: args }, undefined, options);
  if (answer.isError) throw new Error(`${name}: ${answer.content[0].text}`);
  return answer.structuredContent;
}

function measure() {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    residentKiB: Number(/^VmRSS:\s+(\d+)/m.exec(status)[1]),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    threads: Number(/^Threads:\s+(\d+)/m.exec(status)[1]),
  };
}

let rounds = 0;

/** One of each: a job with a result, one that fails, one that is waited for by several and cancelled by one. */
async function round(lane) {
  const result = `out-${lane}.txt`;
  const done = await call('start_job', {
    argv: ['sh', '-c', `seq 1 2000; seq 1 20000 > ${result}`],
    result_path: result,
    run_id: `round-${Math.floor(rounds / 200)}`,
    wait_secs: 40,
  });
  if (done.state !== 'done') throw new Error(`a job ended ${done.state}: ${done.reason}`);
  await call('job_result', { job: done.job_id });
  await call('job_log', { job: done.job_id });
  const failing = await call('start_job', { argv: ['sh', '-c', 'sleep 0.3; exit 3'] });
  const abort = new AbortController();
  const given = call('wait_jobs', { jobs: [failing.job_id] }, { signal: abort.signal }).catch(
    () => undefined,
  );
  const waits = [1, 2, 3].map(() =>
    call('wait_jobs', { jobs: [failing.job_id, done.job_id], max_secs: 40 }, { onprogress: () => undefined }),
  );
  abort.abort();
  const answers = await Promise.all(waits);
  await given;
  if (answers.some(({ jobs }) => jobs[0].state !== 'failed')) throw new Error('a wait answered wrongly');
  await call('list_jobs', { limit: 10 });
  await client.readResource({ uri: `peer-job://${done.job_id}/log` });
  rounds += 1;
  // What is kept on the disk is no matter of the server's; only the listing would grow with it.
  rmSync(done.job_dir, { recursive: true, force: true });
  rmSync(failing.job_dir, { recursive: true, force: true });
}

async function lane(number) {
  while (performance.now() < untilMs) await round(number);
}

const samples = [];
const sampler = setInterval(() => {
  const sample = measure();
  samples.push(sample);
  console.log(
    `${rounds} rounds  ${sample.residentKiB} KiB  ${sample.descriptors} descriptors  ${sample.threads} threads`,
  );
}, SAMPLE_MS);

try {
  await Promise.all(Array.from({ length: atOnce }, (_, number) => lane(number)));
  samples.push(measure());
  const steady = samples.slice(Math.floor(samples.length * WARM_UP));
  const half = Math.ceil(steady.length / 2);
  const median = (list) =>
    list.map((sample) => sample.residentKiB).sort((a, b) => a - b)[Math.floor(list.length / 2)];
  const grownKiB = median(steady.slice(-half)) - median(steady.slice(0, half));
  const descriptors = samples.at(-1).descriptors - samples[0].descriptors;
  console.log(`${rounds} rounds; grown by ${grownKiB} KiB between the halves, by ${descriptors} descriptors`);
  if (grownKiB > GROWTH_MAX_KIB || descriptors > 4) {
    console.error('the server grows');
    process.exitCode = 1;
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  clearInterval(sampler);
  await client.close();
  rmSync(folder, { recursive: true, force: true });
}
