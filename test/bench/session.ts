import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as z from 'zod/mini';
import { interrupted } from './interruption.ts';

/** What the measurements read of an answer; the client has checked it against the tool's own schema. */
const answer = z.looseObject({
  job_id: z.optional(z.string()),
  job_dir: z.optional(z.string()),
  state: z.optional(z.string()),
  jobs: z.optional(z.array(z.looseObject({ job_id: z.string(), job_dir: z.string(), state: z.string() }))),
});
export type ToolAnswer = z.infer<typeof answer>;

/** A server that runs, and a client of the SDK in this very process, as a harness has them. */
export class Session {
  readonly #client: Client;
  readonly serverPid: number;

  private constructor(client: Client, serverPid: number) {
    this.#client = client;
    this.serverPid = serverPid;
  }

  static async open(
    server: string,
    { env, cwd, flags = [] }: { env: Readonly<Record<string, string>>; cwd: string; flags?: string[] },
  ): Promise<Session> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...flags, server],
      env: { ...env },
      cwd,
      stderr: 'inherit',
    });
    const client = new Client({ name: 'peer-jobs-bench', version: '1' });
    await client.connect(transport);
    // As every client does; from then on it checks each answer against the tool's schema.
    await client.listTools();
    return new Session(client, transport.pid ?? 0);
  }

  /** Given up when the run is interrupted, unless `signal` says otherwise. */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined = interrupted,
  ): Promise<ToolAnswer> {
    const result = await this.#client.callTool({ name, arguments: { ...args } }, undefined, {
      timeout: 300_000,
      ...(signal && { signal }),
    });
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
    return answer.parse(result.structuredContent);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
