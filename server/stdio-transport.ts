import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCRequest,
} from '@modelcontextprotocol/sdk/types.js';

/** A line longer than this is dropped: the SDK's own transport would close, and take every other call with it. */
const LINE_MAX_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

/** JSON-RPC, a message a line. Lines that are none are told on stderr, and answered where something waits for that. */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #stdin: Readable;
  readonly #stdout: Writable;
  readonly #say: (line: string) => void;
  #turnIsTaken = false;
  readonly #waiting: JSONRPCMessage[] = [];
  #whenDrained: (() => void)[] = [];
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(stdin: Readable, stdout: Writable, say: (line: string) => void) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#say = say;
  }

  async start(): Promise<void> {
    this.#stdin.on('data', this.#read);
  }

  async close(): Promise<void> {
    this.#stdin.off('data', this.#read).pause();
    this.#parts = [];
    this.#waiting.length = 0;
    this.onclose?.();
  }

  /** Resolves once the message is on its way. A client that does not read keeps only its own answers waiting. */
  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve) => {
      this.#stdout.write(`${JSON.stringify(inWords(message))}\n`, () => resolve());
    });
  }

  /** Resolves once every message that has come in so far has been handed on, and answered where that takes no waiting. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#turnIsTaken) this.#whenDrained.push(resolve);
      else setImmediate(resolve);
    });
  }

  /** One message a turn of the event loop: a long backlog must not hide that the client is gone, nor hold up a timer. */
  #take(message: JSONRPCMessage): void {
    if (this.#turnIsTaken) {
      this.#waiting.push(message);
      return;
    }
    this.#turnIsTaken = true;
    setImmediate(this.#nextTurn);
    this.onmessage?.(message);
  }

  readonly #nextTurn = (): void => {
    this.#turnIsTaken = false;
    const message = this.#waiting.shift();
    if (message) {
      this.#take(message);
      return;
    }
    for (const resolve of this.#whenDrained) setImmediate(resolve);
    this.#whenDrained = [];
  };

  readonly #read = (chunk: Buffer): void => {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      from = end + 1;
      this.#endLine();
    }
    this.#keep(chunk.subarray(from));
  };

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= LINE_MAX_BYTES) this.#parts.push(part);
    else this.#parts = [];
  }

  #endLine(): void {
    const bytes = this.#bytes;
    const line = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    if (bytes > LINE_MAX_BYTES) {
      this.#say(`dropped a message of ${bytes} bytes`);
      return;
    }
    const text = line.toString('utf8').trim();
    if (text === '') return;
    const given = parseJson(text);
    const message = isPlainCall(given) ? given : JSONRPCMessageSchema.safeParse(given).data;
    if (message) {
      this.#take(message);
      return;
    }
    this.#say(`passed over a line that is no JSON-RPC message: ${JSON.stringify(text.slice(0, 80))}`);
    for (const refusal of refusals(given)) void this.send(refusal);
  }
}

/** A call with nothing but what every call has; the schema that knows all kinds of messages takes longer than such a call. */
function isPlainCall(message: unknown): message is JSONRPCRequest {
  if (!isObject(message)) return false;
  const { jsonrpc, id, method, params, ...rest } = message;
  return (
    jsonrpc === '2.0' &&
    isId(id) &&
    typeof method === 'string' &&
    isObject(params) &&
    (params._meta === undefined || isPlainMeta(params._meta)) &&
    Object.keys(rest).length === 0
  );
}

function isPlainMeta(meta: unknown): boolean {
  if (!isObject(meta)) return false;
  const { progressToken, ...rest } = meta;
  return isId(progressToken) && Object.keys(rest).length === 0;
}

function isId(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // There is no id to answer to.
    return undefined;
  }
}

/** For each request in what is no message: whoever sent it would wait until it gives up. */
function refusals(given: unknown): JSONRPCErrorResponse[] {
  const message = Array.isArray(given)
    ? 'no batches: send each request in a line of its own'
    : 'not a request: jsonrpc must be "2.0", id and progressToken a string or a whole number, method a string, params and _meta objects, with nothing else beside them';
  return [given].flat().flatMap((request) => {
    if (!isObject(request) || !('method' in request)) return [];
    const { id } = request;
    return typeof id === 'string' || typeof id === 'number'
      ? [{ jsonrpc: '2.0', id, error: { code: ErrorCode.InvalidRequest, message } }]
      : [];
  });
}

/** The SDK tells what its schemas find wrong with params as a list in JSON, and as a failure of the server's. */
function inWords(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || message.error.code !== ErrorCode.InternalError) return message;
  const issues = parseJson(message.error.message);
  if (!Array.isArray(issues)) return message;
  const problems = issues
    .filter(isObject)
    .map((issue) => `${[issue.path].flat().join('.')}: ${issue.message}`);
  return { ...message, error: { code: ErrorCode.InvalidParams, message: problems.join('; ') } };
}
