/** A server under test, met through the SDK's own client. */
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import { repoRoot } from '../support/programs.ts';
import type { TempBase } from '../support/temp-base.ts';

export const serverFile = join(repoRoot, 'dist/server.mjs');

export interface SessionOptions {
  /** What the client calls itself. */
  readonly name?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** With nothing but `env` and where the jobs lie, as Codex starts a server. */
  readonly bare?: boolean;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** `file:` URIs; with any, the client has the roots capability. */
  readonly roots?: readonly string[];
}

export interface Answer {
  readonly isError: boolean;
  readonly text: string;
  readonly content: CallToolResult['content'];
  /** The structured answer; `{}` beside an error. */
  readonly data: Data;
}

/** A structured answer, read loosely: the SDK's client has checked it against the schema already. */
export type Data = z.output<typeof dataSchema>;
export type Row = z.output<typeof rowSchema>;

const rowSchema = z.looseObject({
  job_id: z.string(),
  job_dir: z.string(),
  state: z.string(),
  reason: z.string(),
  label: z.string().optional(),
  exit_code: z.number().optional(),
  last_line: z.string().optional(),
  log_tail: z.string().optional(),
  result_text: z.string().optional(),
  result_bytes: z.number().optional(),
  elapsed_secs: z.number().optional(),
  idle_secs: z.number().optional(),
});

const dataSchema = z.looseObject({
  ...rowSchema.partial().shape,
  next: z.string().optional(),
  jobs: z.array(rowSchema).optional(),
  unknown: z.array(z.object({ ref: z.string(), problem: z.string() })).optional(),
  text: z.string().optional(),
  base64: z.string().optional(),
  offset: z.number().optional(),
  next_offset: z.number().optional(),
  total_bytes: z.number().optional(),
});

export class Session {
  readonly client: Client;
  readonly pid: number;
  #stderr = '';

  private constructor(client: Client, transport: StdioClientTransport) {
    this.client = client;
    this.pid = transport.pid ?? 0;
    transport.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString('utf8');
    });
  }

  static async open(temp: TempBase, options: SessionOptions = {}): Promise<Session> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [serverFile, ...(options.args ?? [])],
      env: { ...(options.bare ? { CE_PEER_JOBS_ROOT: temp.base } : temp.env), ...options.env },
      cwd: options.cwd ?? temp.scratch,
      stderr: 'pipe',
    });
    const roots = options.roots?.map((uri) => ({ uri }));
    const client = new Client(
      { name: options.name ?? 'peer-jobs-test', version: '1' },
      { capabilities: roots ? { roots: {} } : {} },
    );
    if (roots) client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
    await client.connect(transport);
    const session = new Session(client, transport);
    temp.ledger.register(session.pid, 'the server');
    // The client checks structured answers against the schemas that it has seen.
    await client.listTools();
    return session;
  }

  get stderr(): string {
    return this.#stderr;
  }

  async call(name: string, args: Record<string, unknown>, options?: RequestOptions): Promise<Answer> {
    const result = CallToolResultSchema.parse(
      await this.client.callTool({ name, arguments: args }, undefined, options),
    );
    const [first] = result.content;
    return {
      isError: result.isError === true,
      text: first?.type === 'text' ? first.text : '',
      content: result.content,
      data: dataSchema.parse(result.structuredContent ?? {}),
    };
  }

  /** Starts a shell script and gives the row of its job. */
  async start(script: string, args: Record<string, unknown> = {}): Promise<Row> {
    const { data, isError, text } = await this.call('start_job', { argv: ['sh', '-c', script], ...args });
    if (isError) throw new Error(text);
    return rowSchema.parse(data);
  }

  /** The rows of a wait for these jobs. */
  async wait(jobs: readonly string[], args: Record<string, unknown> = {}): Promise<readonly Row[]> {
    const { data, isError, text } = await this.call('wait_jobs', { jobs, ...args });
    if (isError) throw new Error(text);
    return data.jobs ?? [];
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
