import { deepEqual, equal, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as z from 'zod';
import { eventually } from '../../support/eventually.ts';
import { isAlive, js, killTree, pidsOf, ready, settled, waitsFor } from './jobs.ts';
import { scenario } from './scenario.ts';
import { APP, type TempBase } from './temp-base.ts';

const answer = z.looseObject({
  job_id: z.optional(z.string()),
  state: z.optional(z.string()),
  text: z.optional(z.string()),
});

interface Session {
  readonly client: Client;
  readonly pid: number;
  call(name: string, args: Record<string, unknown>): Promise<z.output<typeof answer>>;
}

async function connect(temp: TempBase): Promise<Session> {
  const present = Object.entries(temp.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(APP, 'server.mjs')],
    cwd: temp.scratch,
    env: Object.fromEntries(present),
    stderr: 'ignore',
  });
  const client = new Client({ name: 'windows-suite', version: '1' });
  await client.connect(transport);
  const pid = transport.pid ?? 0;
  temp.watch(pid);
  return {
    client,
    pid,
    call: async (name, args) => {
      const { structuredContent, isError, content } = await client.callTool({ name, arguments: args });
      if (isError) throw new Error(JSON.stringify(content));
      return answer.parse(structuredContent);
    },
  };
}

const AT = { skill: 's', run_id: 'r' };

scenario('the MCP server, driven by a client: start, wait, result', async (temp) => {
  const { client, call } = await connect(temp);
  const { tools } = await client.listTools();
  ok(tools.some((tool) => tool.name === 'start_job'));
  const argv = js("fs.writeFileSync('out','the result')");
  const started = await call('start_job', {
    ...AT,
    argv,
    cwd: temp.scratch,
    result_path: 'out',
    wait_secs: 30,
  });
  equal(started.state, 'done');
  const { text } = await call('job_result', { job: started.job_id });
  equal(text, 'the result');
  await client.close();
});

scenario(
  'a job outlives the server that started it, killed as clients kill it, by its tree; another server finds it',
  async (temp) => {
    const first = await connect(temp);
    const argv = js(`${waitsFor('go')}say('ready '+process.pid);until(()=>fs.writeFileSync('out','x'))`);
    const { job_id = '' } = await first.call('start_job', {
      ...AT,
      argv,
      cwd: temp.scratch,
      result_path: 'out',
    });
    const job = temp.job(job_id);
    await ready(job);
    await killTree(first.pid);
    const { supervisor_pid, worker_pid } = pidsOf(job);
    deepEqual([isAlive(supervisor_pid), isAlive(worker_pid)], [true, true]);
    temp.file('go', '');
    equal(await settled(job), 'done');
    const second = await connect(temp);
    const { text } = await second.call('job_result', { job: job_id });
    equal(text, 'x');
    await second.client.close();
    await eventually(() => !isAlive(second.pid));
  },
);
