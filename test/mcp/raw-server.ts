/** A server under test, met through its bare pipes. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import * as z from 'zod';
import { eventually } from '../support/eventually.ts';
import type { TempBase } from '../support/temp-base.ts';
import { serverFile } from './session.ts';

const message = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.number(), z.string(), z.null()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({}).optional(),
  result: z.looseObject({}).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});
export type Message = z.output<typeof message>;

export class RawServer {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly messages: Message[] = [];
  /** Lines on stdout that are no JSON-RPC message. */
  readonly strays: string[] = [];
  stderr = '';
  /** From its start to its first answer. */
  readyMs = 0;
  readonly #startedMs = performance.now();
  #rest = '';
  #nextId = 1;

  constructor(
    temp: TempBase,
    options: { args?: readonly string[]; detached?: boolean; env?: Readonly<Record<string, string>> } = {},
  ) {
    this.child = spawn(process.execPath, [serverFile, ...(options.args ?? [])], {
      env: { ...temp.env, ...options.env },
      cwd: temp.scratch,
      detached: options.detached ?? false,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    temp.ledger.register(this.child.pid ?? 0, 'the server');
    this.exited = once(this.child, 'exit').then(([code, signal]) => ({ code, signal }));
    // The other end may be gone by the time that a test writes.
    this.child.stdin.on('error', () => undefined);
    this.child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.stderr += chunk;
    });
    this.child.stdout.setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk));
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  #read(chunk: string): void {
    const lines = (this.#rest + chunk).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const parsed = message.safeParse(parseJson(line));
      if (parsed.success) this.messages.push(parsed.data);
      else this.strays.push(line);
    }
  }

  write(text: string): void {
    this.child.stdin.write(text);
  }

  /** Sends a request and gives its id. */
  request(method: string, params: Record<string, unknown> = {}): number {
    const id = this.#nextId++;
    this.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return id;
  }

  notify(method: string, params: Record<string, unknown> = {}): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`);
  }

  call(name: string, args: Record<string, unknown>, progressToken?: number): number {
    return this.request('tools/call', {
      name,
      arguments: args,
      ...(progressToken === undefined ? {} : { _meta: { progressToken } }),
    });
  }

  answer(id: number): Promise<Message> {
    return eventually(() =>
      this.messages.find((candidate) => candidate.id === id && candidate.method === undefined),
    );
  }

  async initialize(name = 'raw'): Promise<void> {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: '1' } };
    await this.answer(this.request('initialize', params));
    this.readyMs = performance.now() - this.#startedMs;
    this.notify('notifications/initialized');
  }

  /** Starts a shell script and gives the directory of its job. */
  async start(script: string): Promise<string> {
    const { result } = await this.answer(this.call('start_job', { argv: ['sh', '-c', script] }));
    return z.object({ structuredContent: z.looseObject({ job_dir: z.string() }) }).parse(result)
      .structuredContent.job_dir;
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
