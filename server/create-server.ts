import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CompleteRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  RootsListChangedNotificationSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { type Caller, RunnerError } from '../runner-core/index.ts';
import { longestAnswerChars, longestWaitSecs } from './client-bounds.ts';
import { ClientFolder, ROOTS_BUDGET_MS } from './client-folder.ts';
import { DOCTOR_URI, examine, type Surroundings } from './doctor.ts';
import { withoutSession } from './harness-env.ts';
import { INSTRUCTIONS } from './instructions.ts';
import { progressTo } from './progress.ts';
import { completeJobId, listResources, readResource, Subscriptions, TEMPLATES } from './resources.ts';
import { TOOLS } from './tools.ts';

/** https://modelcontextprotocol.io/specification/2025-11-25/server/resources#error-handling */
const RESOURCE_NOT_FOUND = -32002;

export interface ServerContext {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where relative paths count from, unless the client names a root. */
  readonly cwd: string;
  /** The file that runs supervisors. */
  readonly entry: string;
  /** Run of the starts that name none. */
  readonly runId: string;
  /** For the log of whoever runs the server. */
  readonly say: (line: string) => void;
}

/** A server over the table of operations, for the caller to connect to a transport. `close` lets starts finish. */
export function createServer(context: ServerContext): { server: Server; close(): Promise<void> } {
  const server = new Server(
    { name: 'peer-jobs', title: 'Peer jobs', version: context.version },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, completions: {} },
      instructions: INSTRUCTIONS,
    },
  );
  const env = withoutSession(context.env);
  const folder = new ClientFolder(context.cwd, async () => {
    if (!server.getClientCapabilities()?.roots) return [];
    return (await server.listRoots(undefined, { timeout: ROOTS_BUDGET_MS })).roots;
  });
  const subscriptions = new Subscriptions((uri) => {
    // A client that is gone is noticed by its pipes.
    server.sendResourceUpdated({ uri }).catch(() => undefined);
  });
  const pending = new Set<Promise<unknown>>();

  const callerFor = async (): Promise<Caller> => ({
    env,
    cwd: await folder.path(),
    entry: context.entry,
    defaults: { skill: 'adhoc', runId: context.runId },
    client: `mcp:${server.getClientVersion()?.name ?? 'unknown'}`,
  });

  const surroundings = (): Surroundings => {
    const { name = 'unknown', version = '' } = server.getClientVersion() ?? {};
    return {
      version: context.version,
      client: `${name} ${version}`.trim(),
      longestWaitSecs: longestWaitSecs(name, { env: context.env, progress: true }),
      env: context.env,
      ownFolder: context.cwd,
    };
  };

  server.setNotificationHandler(RootsListChangedNotificationSchema, () => folder.forget());

  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map((tool) => tool.definition()) }));

  // The SDK would check the call twice and the answer once with schemas of its own, which takes as long as to answer it. The
  // tool checks its arguments itself, and makes its answer by its schema.
  server.fallbackRequestHandler = async ({ method, params = {} }, { signal, sendNotification }) => {
    if (method !== 'tools/call') {
      throw Object.assign(new Error('Method not found'), { code: ErrorCode.MethodNotFound });
    }
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `no tool ${JSON.stringify(params.name)}`);
    const token = params._meta?.progressToken;
    const progress = token === undefined ? undefined : progressTo(token, sendNotification);
    const client = server.getClientVersion()?.name ?? '';
    const waitSecs = longestWaitSecs(client, { env: context.env, progress: progress !== undefined });
    const call = callerFor().then((caller) =>
      tool.call(params.arguments, {
        ...caller,
        signal,
        onProgress: progress?.tell,
        wait: { defaultSecs: waitSecs, maxSecs: waitSecs },
        answerChars: longestAnswerChars(client),
      }),
    );
    pending.add(call);
    try {
      return await call;
    } catch (error) {
      context.say(`bug in ${tool.name}: ${error instanceof Error ? error.stack : String(error)}`);
      throw new McpError(
        ErrorCode.InternalError,
        `internal error in ${tool.name}; the server's log tells more`,
      );
    } finally {
      progress?.stop();
      pending.delete(call);
    }
  };

  server.setRequestHandler(ListResourcesRequestSchema, async ({ params }) =>
    listResources(params?.cursor, await callerFor()),
  );
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }) => {
    if (params.uri === DOCTOR_URI) return { contents: [await examine(surroundings(), await callerFor())] };
    const content = await readResource(params.uri, await callerFor()).catch((error: unknown) => {
      throw error instanceof RunnerError ? notFound(params.uri, error.message) : error;
    });
    if (!content) throw notFound(params.uri, 'no such resource');
    return { contents: [content] };
  });
  server.setRequestHandler(SubscribeRequestSchema, async ({ params }) => {
    if (await subscriptions.add(params.uri, await callerFor())) return {};
    throw notFound(params.uri, 'no such job');
  });
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscriptions.remove(params.uri);
    return {};
  });
  server.setRequestHandler(CompleteRequestSchema, async ({ params }) => {
    const ours = params.ref.type === 'ref/resource' && params.argument.name === 'job_id';
    if (!ours) return { completion: { values: [] } };
    return { completion: await completeJobId(params.argument.value, await callerFor()) };
  });

  const close = async (): Promise<void> => {
    subscriptions.close();
    // Ends every wait; a start that is under way is let through, so that no half-made job is left.
    await server.close();
    await Promise.allSettled(pending);
  };
  return { server, close };
}

function notFound(uri: string, why: string): McpError {
  return new McpError(RESOURCE_NOT_FOUND, `${uri}: ${why}`);
}
