import { join } from 'node:path';
import { describe, expect } from 'vitest';
import * as z from 'zod';
import { repoRoot } from '../support/programs.ts';
import { runProgram } from '../support/run-cli.ts';
import { type TempBase, test } from '../support/temp-base.ts';
import { serverFile } from './session.ts';

const inspector = join(repoRoot, 'node_modules/@modelcontextprotocol/inspector');
const bin = join(repoRoot, 'node_modules/.bin/mcp-inspector');
const answer = z.object({ result: z.looseObject({ structuredContent: z.looseObject({}).optional() }) });

async function inspect(temp: TempBase, args: readonly string[]) {
  const run = await runProgram(
    [process.execPath, bin, '--cli', process.execPath, serverFile, ...args, '--format', 'json', '-q'],
    {
      env: { ...temp.env, HOME: temp.at('home') },
      cwd: temp.scratch,
    },
  );
  return { ...run, json: () => answer.parse(JSON.parse(run.stdout.toString('utf8'))).result };
}

async function call(temp: TempBase, tool: string, args: Record<string, unknown>) {
  const run = await inspect(temp, [
    '--method',
    'tools/call',
    '--tool-name',
    tool,
    '--tool-args-json',
    JSON.stringify(args),
  ]);
  return { code: run.code, data: run.json().structuredContent ?? {}, text: run.stdout.toString('utf8') };
}

describe(`the Inspector (${inspector.split('/').at(-1)}) without a browser`, () => {
  test('lists the tools and has nothing to say against their schemas', async ({ temp }) => {
    const run = await inspect(temp, ['--method', 'tools/list', '--strict']);
    expect(run.stderr).not.toMatch(/warning: tool|error: tool/i);
    expect(run.code).toBe(0);
    expect(JSON.stringify(run.json())).toContain('"start_job"');
  });

  test('starts a job, waits on it from another server, and reads its result and its log', async ({
    temp,
  }) => {
    const script = 'echo working; sleep 3; echo found > out.txt';
    const started = await call(temp, 'start_job', { argv: ['sh', '-c', script], result_path: 'out.txt' });
    expect(started.data).toMatchObject({ state: 'running' });
    const job = String(started.data.job_id);
    const waited = await call(temp, 'wait_jobs', { jobs: [job], max_secs: 30 });
    expect(waited.data.jobs).toMatchObject([{ state: 'done', result_text: 'found\n' }]);
    expect((await call(temp, 'job_result', { job })).data).toMatchObject({ text: 'found\n' });
    expect((await call(temp, 'job_log', { job })).data).toMatchObject({ text: 'working\n' });
  });

  test('is told by its exit code that a tool refused', async ({ temp }) => {
    const refused = await call(temp, 'job_result', { job: 'nope' });
    expect(refused.code).toBe(5);
    expect(refused.text).toContain('job not found');
  });
});
