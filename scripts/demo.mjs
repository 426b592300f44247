// Shows the point of it all: a job that an MCP client starts outlives the server that started it.
// With `--engine slurm` it runs on a cluster: CE_PEER_JOBS_ROOT and TMPDIR must then be where its nodes see them too.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const { engine } = parseArgs({ options: { engine: { type: 'string' } } }).values;
const serverFile = fileURLToPath(new URL('../dist/server.mjs', import.meta.url));
const colours = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (colours ? `\x1b[${code}m${text}\x1b[0m` : text);
const [bold, dim, red, green, cyan] = [1, 2, 31, 32, 36].map(paint);
const say = (mark, text) => console.log(`${mark} ${text}`);

// A worker such as an agent would start: some seconds of work, a line now and then, a result at the end.
const worker = `
for step in 1 2 3 4 5; do echo "step $step of 5"; sleep 1; done
printf 'The answer is %s.\\n' $((6 * 7)) > "$1"
`;

async function connect(root) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [serverFile, '--root', root],
    env: process.env,
    stderr: 'inherit',
  });
  const client = new Client({ name: 'peer-jobs-demo', version: '1' });
  await client.connect(transport);
  return { client, pid: transport.pid };
}

async function call(client, name, args, options) {
  const answer = await client.callTool({ name, arguments: args }, undefined, options);
  if (answer.isError) throw new Error(`${name}: ${answer.content[0].text}`);
  return answer.structuredContent;
}

async function play(root, scratch) {
  const first = await connect(root);
  try {
    const job = await startAndKill(first, scratch);
    return { job, end: await collect(root, job) };
  } finally {
    await first.client.close();
  }
}

async function startAndKill(first, scratch) {
  const resultPath = join(scratch, 'answer.txt');
  say(cyan('▶'), `server ${first.pid} is up; it starts a worker of five seconds`);
  const job = await call(first.client, 'start_job', {
    argv: ['sh', '-c', worker, 'sh', resultPath],
    label: 'demo',
    result_path: resultPath,
    cwd: scratch,
    ...(engine === undefined ? {} : { engine }),
  });
  say(cyan('▶'), `job ${bold(job.job_id)}`);

  const interrupted = call(
    first.client,
    'wait_jobs',
    { jobs: [job.job_id] },
    {
      onprogress: ({ message }) => say(dim('·'), dim(message)),
    },
  ).then(
    () => 'settled before the kill',
    () => 'ended with its server',
  );
  await sleep(2500);
  process.kill(first.pid, 'SIGKILL');
  say(red('✗'), `server ${first.pid} was killed with SIGKILL in the middle; its wait ${await interrupted}`);
  return job;
}

async function collect(root, job) {
  const second = await connect(root);
  try {
    say(cyan('▶'), `server ${second.pid} is another one; it finds the job by its label`);
    const { jobs } = await call(second.client, 'list_jobs', { label: 'demo', limit: 1 });
    if (jobs[0]?.job_id !== job.job_id) throw new Error('the second server does not find the job');
    const waited = await call(
      second.client,
      'wait_jobs',
      { jobs: [job.job_id], max_secs: 30 },
      {
        onprogress: ({ message }) => say(dim('·'), dim(message)),
      },
    );
    const [end] = waited.jobs;
    if (end.state !== 'done') throw new Error(`the job ended ${end.state}: ${end.reason}`);
    const result = await call(second.client, 'job_result', { job: job.job_id });
    if (result.text !== 'The answer is 42.\n')
      throw new Error(`unexpected result ${JSON.stringify(result.text)}`);
    say(
      green('✓'),
      `${green(end.state)} after ${end.elapsed_secs.toFixed(1)} s, result: ${bold(result.text.trim())}`,
    );
    return end;
  } finally {
    await second.client.close();
  }
}

const scratch = mkdtempSync(join(tmpdir(), 'peer-jobs-demo-'));
const root = process.env.CE_PEER_JOBS_ROOT || join(scratch, 'jobs');
try {
  const { job, end } = await play(root, scratch);
  const where = [
    ['job', `${job.job_dir}  (meta.json pid outcome.json status)`],
    ['log', join(job.job_dir, 'out.log')],
    ['result', end.result_path],
    ['remove', `rm -r ${scratch}`],
  ];
  for (const [what, path] of where) say(' ', dim(`${what.padEnd(7)}${path}`));
} catch (error) {
  say(red('✗'), error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
