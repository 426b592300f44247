import { deepEqual, equal, ok } from 'node:assert/strict';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as z from 'zod';
import { isAlive, js, killTree, pidsOf, ready, settled, waitsFor } from './jobs.ts';
import { eventually } from './patience.ts';
import { scenario } from './scenario.ts';
import { APP, type TempBase } from './temp-base.ts';

const answer = z.looseObject({
  job_id: z.optional(z.string()),
  state: z.optional(z.string()),
  text: z.optional(z.string()),
  result_text: z.nullish(z.string()),
  next: z.optional(z.string()),
});

interface Session {
  readonly client: Client;
  readonly pid: number;
  call(name: string, args: Record<string, unknown>): Promise<z.output<typeof answer>>;
}

export async function connect(temp: TempBase, server = join(APP, 'server.mjs')): Promise<Session> {
  const present = Object.entries(temp.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [server],
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

scenario(
  'one call from start to result: a done job brings its whole result, and says that nothing more is needed',
  async (temp) => {
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
    deepEqual(
      [started.state, started.result_text, started.next],
      ['done', 'the result', 'nothing more; result_text is the whole result.'],
    );
    const { text } = await call('job_result', { job: started.job_id });
    equal(text, 'the result');
    await client.close();
  },
);

scenario(
  'a job outlives a server that is killed with its whole tree by parent pid: it ends done, and a later server collects it',
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
