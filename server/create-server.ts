import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { type Caller, keepSupervisorWarm } from '../runner-core/index.ts';
import { longestWaitSecs } from './client-bounds.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { progressTo } from './progress.ts';
import { TOOLS } from './tools.ts';

export interface ServerContext {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The file that runs supervisors. */
  readonly entry: string;
  /** Run of the starts that name none. */
  readonly runId: string;
  /** For the log of whoever runs the server. */
  readonly say: (line: string) => void;
}

/** A client lists the tools right after it has initialised; then there is time. */
const WARM_AFTER_MS = 100;

/** A server over the table of operations; the caller connects it to a transport, and calls `close` at the end. */
export function createServer(context: ServerContext): { server: Server; close(): void } {
  const server = new Server(
    { name: 'peer-jobs', title: 'Peer jobs', version: context.version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );

  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map((tool) => tool.definition()) }));

  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `no tool ${JSON.stringify(params.name)}`);
    const token = params._meta?.progressToken;
    const progress = token === undefined ? undefined : progressTo(token, sendNotification);
    const client = server.getClientVersion()?.name ?? '';
    const waitSecs = longestWaitSecs(client, { env: context.env, progress: progress !== undefined });
    const caller: Caller = {
      env: context.env,
      cwd: context.cwd,
      entry: context.entry,
      defaults: { skill: 'adhoc', runId: context.runId },
      client: client === '' ? 'mcp' : `mcp:${client}`,
      signal,
      onProgress: progress?.tell,
      wait: { defaultSecs: waitSecs, maxSecs: waitSecs },
    };
    try {
      return await tool.call(params.arguments, caller);
    } catch (error) {
      context.say(`bug in ${tool.name}: ${error instanceof Error ? error.stack : String(error)}`);
      throw new McpError(
        ErrorCode.InternalError,
        `internal error in ${tool.name}; nothing more is known of the call`,
      );
    } finally {
      progress?.stop();
    }
  });

  // Not before the client is served: its first answer must not wait for another process to start.
  let letGo = (): void => undefined;
  server.oninitialized = () => {
    const timer = setTimeout(() => {
      letGo = keepSupervisorWarm(context.entry);
    }, WARM_AFTER_MS);
    letGo = () => clearTimeout(timer);
  };
  return { server, close: () => letGo() };
}
