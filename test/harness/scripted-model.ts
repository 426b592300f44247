/**
 * A model without a model: an HTTP server on 127.0.0.1 that answers each turn of a real client with what a script says,
 * over the two streaming protocols that the clients speak. https://docs.claude.com/en/api/messages-streaming,
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';

export interface ToolCall {
  readonly tool: string;
  /** One of the client's own tools, not of our server. */
  readonly own?: boolean;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What the client showed its model of one tool's answer. */
export interface ToolAnswer {
  readonly text: string;
  /** The structured answer, if that is what was shown. */
  readonly data: AnswerData;
}

const answerData = z.looseObject({
  job_id: z.string().optional(),
  state: z.string().optional(),
  result_text: z.string().optional(),
  log_tail: z.string().optional(),
  elapsed_secs: z.number().optional(),
  next: z.string().optional(),
  jobs: z
    .array(z.looseObject({ job_id: z.string(), state: z.string(), result_text: z.string().optional() }))
    .optional(),
});
export type AnswerData = z.output<typeof answerData>;

/** One turn: from the answers to the last calls to the next calls, or to the last word. */
export type Turn = (answers: readonly ToolAnswer[]) => readonly ToolCall[] | string;

export interface ScriptedModel {
  readonly url: string;
  /** Every answer that the model was shown, turn by turn. */
  readonly turns: (readonly ToolAnswer[])[];
  /** What the client told its model unasked: results of calls that had moved to the background. */
  readonly notifications: readonly string[];
  /** How many calls the script has made. */
  readonly calls: readonly ToolCall[];
  /** Whether the instructions of the server reached the model. */
  sawInstructions(): boolean;
  /** Requests that could not be answered. */
  readonly problems: readonly Error[];
  close(): void;
}

const anthropicRequest = z.looseObject({
  stream: z.boolean().optional(),
  model: z.string().optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })).optional(),
});

const openAiRequest = z.looseObject({
  input: z.array(z.looseObject({ type: z.string().optional(), output: z.unknown().optional() })),
});

const textBlocks = z.array(z.looseObject({ type: z.string(), text: z.string().optional() }));

const TASK_NOTIFICATION = /<task-notification>.*?<\/task-notification>/g;

const toolResult = z.looseObject({ type: z.literal('tool_result'), content: z.unknown() });

export async function serveModel(script: readonly Turn[], server = 'peer-jobs'): Promise<ScriptedModel> {
  const turns: (readonly ToolAnswer[])[] = [];
  const calls: ToolCall[] = [];
  const problems: Error[] = [];
  const notifications: string[] = [];
  let instructions = false;

  const step = (answers: readonly ToolAnswer[]): readonly ToolCall[] | string => {
    const turn = script[turns.length];
    turns.push(answers);
    const said = turn?.(answers) ?? 'the script is over';
    if (typeof said !== 'string') calls.push(...said);
    return said;
  };

  const http = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const url = request.url ?? '';
      if (body.includes('detached jobs that outlive this call')) instructions = true;
      try {
        if (url.includes('/count_tokens')) response.end('{"input_tokens":1}');
        else if (url.includes('/responses')) answerOpenAi(JSON.parse(body));
        else if (url.includes('/messages')) answerAnthropic(JSON.parse(body));
        else response.writeHead(404).end('{}');
      } catch (error) {
        // The client would wait for ever, and the test with it.
        problems.push(error instanceof Error ? error : new Error(String(error)));
        response.destroy();
      }

      function answerAnthropic(json: unknown): void {
        const asked = anthropicRequest.parse(json);
        for (const [notification] of JSON.stringify(asked.messages?.at(-1) ?? '').matchAll(TASK_NOTIFICATION))
          notifications.push(notification.replaceAll('\\"', '"').replaceAll('\\\\', '\\'));
        // The client also asks for titles and the like, without tools.
        const isAgent = asked.tools?.some(({ name }) => name.startsWith('mcp__')) ?? false;
        const said = isAgent ? step(anthropicAnswers(asked.messages ?? [])) : 'ok';
        streamAnthropic(response, said, `${turns.length}`, asked.model ?? '', server);
      }

      function answerOpenAi(json: unknown): void {
        const { input } = openAiRequest.parse(json);
        const last = input.findLastIndex(({ type }) => type === 'function_call');
        const outputs = input.slice(last + 1).filter(({ type }) => type === 'function_call_output');
        streamOpenAi(
          response,
          step(outputs.map(({ output }) => toAnswer(output))),
          `${turns.length}`,
          server,
        );
      }
    });
  });
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    turns,
    calls,
    notifications,
    sawInstructions: () => instructions,
    problems,
    close: () => {
      http.closeAllConnections();
      http.close();
    },
  };
}

function anthropicAnswers(messages: readonly { content: unknown }[]): ToolAnswer[] {
  // The newest message may be a reminder of the client's; the results come right before it.
  for (const { content } of messages.slice(-2).reverse()) {
    const results = (Array.isArray(content) ? content : []).flatMap((block) => {
      const parsed = toolResult.safeParse(block);
      return parsed.success ? [toAnswer(parsed.data.content)] : [];
    });
    if (results.length > 0) return results;
  }
  return [];
}

/** Claude Code shows the structured answer as text, after whatever links there are; Codex after a line of its own. */
function toAnswer(shown: unknown): ToolAnswer {
  const texts = textBlocks.safeParse(shown).data?.map(({ text }) => text ?? '') ?? [String(shown)];
  for (const text of texts) {
    try {
      return { text, data: answerData.parse(JSON.parse(text.slice(text.indexOf('{')))) };
    } catch {
      // A link, or an error.
    }
  }
  return { text: texts.join('\n'), data: {} };
}

function events(response: ServerResponse): (type: string, data: Record<string, unknown>) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  return (type, data) =>
    void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
}

function streamAnthropic(
  response: ServerResponse,
  said: readonly ToolCall[] | string,
  id: string,
  model: string,
  server: string,
): void {
  const send = events(response);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    usage,
  };
  send('message_start', { message });
  const blocks =
    typeof said === 'string'
      ? [{ start: { type: 'text', text: '' }, delta: { type: 'text_delta', text: said } }]
      : said.map(({ tool, own, input }, at) => ({
          start: {
            type: 'tool_use',
            id: `toolu_${id}_${at}`,
            name: own ? tool : `mcp__${server}__${tool}`,
            input: {},
          },
          delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
        }));
  for (const [index, { start, delta }] of blocks.entries()) {
    send('content_block_start', { index, content_block: start });
    send('content_block_delta', { index, delta });
    send('content_block_stop', { index });
  }
  const stop_reason = typeof said === 'string' ? 'end_turn' : 'tool_use';
  send('message_delta', { delta: { stop_reason }, usage: { output_tokens: 1 } });
  send('message_stop', {});
  response.end();
}

function streamOpenAi(
  response: ServerResponse,
  said: readonly ToolCall[] | string,
  id: string,
  server: string,
): void {
  const send = events(response);
  send('response.created', { response: { id: `resp_${id}` } });
  const items =
    typeof said === 'string'
      ? [
          {
            type: 'message',
            id: `msg_${id}`,
            role: 'assistant',
            content: [{ type: 'output_text', text: said }],
          },
        ]
      : said.map(({ tool, own, input }, at) => ({
          type: 'function_call',
          id: `fc_${id}_${at}`,
          call_id: `call_${id}_${at}`,
          ...(own ? {} : { namespace: `mcp__${server.replaceAll('-', '_')}` }),
          name: tool,
          arguments: JSON.stringify(input),
        }));
  for (const [output_index, item] of items.entries())
    send('response.output_item.done', { output_index, item });
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  send('response.completed', { response: { id: `resp_${id}`, usage } });
  response.end();
}
