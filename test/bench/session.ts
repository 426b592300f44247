import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { interrupted } from './interruption.ts';

/** What the measurements read of an answer; the client has checked it against the tool's own schema. */
export interface ToolAnswer {
  readonly job_id?: string;
  readonly job_dir?: string;
  readonly state?: string;
  readonly jobs?: readonly { readonly job_id: string; readonly job_dir: string; readonly state: string }[];
}

/** One promise for all calls: a signal that is given to each would keep a listener of each. */
const givenUp = new Promise<never>((_, reject) => {
  interrupted.addEventListener('abort', () => reject(interrupted.reason), { once: true });
});
givenUp.catch(() => undefined);

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

  /** Given up when the run is interrupted. */
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolAnswer> {
    return Promise.race([this.callAnyway(name, args), givenUp]);
  }

  /** For cleaning up, which an interruption does not end. */
  async callAnyway(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolAnswer> {
    const options = { timeout: 300_000 };
    const result = await this.#client.callTool({ name, arguments: { ...args } }, undefined, options);
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
    return result.structuredContent ?? {};
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
