import type { CallToolResult, Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod/mini';
import { type Caller, type Operation, RunnerError } from '../runner-core/index.ts';
import { shownSchema, shownValue } from './answer-shape.ts';
import { explainIssues } from './explain-issues.ts';
import { type JsonSchema, schemaOf } from './json-schema.ts';
import { lenient } from './lenient-input.ts';

/** One operation as a tool. */
export interface Tool {
  readonly name: string;
  definition(): ToolDefinition;
  /** Expected failures are answers too (`isError`, with what to do); only bugs throw. */
  call(args: unknown, caller: Caller): Promise<CallToolResult>;
}

export interface ToolParts<I, O> {
  /** For people, and for clients that show no structured answer. */
  readonly say: (output: O) => string;
  /** What the caller should do with this answer. */
  readonly next: (output: O, input: I) => string;
  /** Arguments that cannot be meant, whatever the schema says: what to pass instead. */
  readonly refuse?: (args: unknown) => string | undefined;
  /** What else may help after a failure. */
  readonly advise?: (error: Error, input: I, caller: Caller) => string | undefined;
  readonly links?: (output: O, input: I) => CallToolResult['content'];
}

const withNext = z.object({ next: z.string().check(z.describe('What to do with this answer.')) });

export function toTool<I extends z.ZodMiniObject, O extends z.ZodMiniObject>(
  operation: Operation<I, O>,
  { say, next, refuse, advise, links }: ToolParts<z.output<I>, z.output<O>>,
): Tool {
  let input: JsonSchema | undefined;
  const inputSchema = (): JsonSchema => {
    input ??= schemaOf(operation.input, 'input');
    return input;
  };
  let output: JsonSchema | undefined;
  const outputSchema = (): JsonSchema => {
    output ??= shownSchema(schemaOf(z.extend(operation.output, withNext.shape), 'output'));
    return output;
  };
  return {
    name: operation.tool,
    definition: () =>
      ({
        name: operation.tool,
        title: operation.title,
        description: operation.description,
        inputSchema: inputSchema(),
        outputSchema: outputSchema(),
        annotations: { title: operation.title, ...operation.annotations },
      }) as ToolDefinition,
    call: async (args, caller) => {
      const refusal = refuse?.(args);
      if (refusal !== undefined) return failed(refusal);
      const given = args ?? {};
      const asGiven = operation.input.safeParse(given);
      const taken = asGiven.success ? given : lenient(inputSchema(), given);
      const parsed = asGiven.success ? asGiven : operation.input.safeParse(taken);
      if (!parsed.success) return failed(explainIssues(parsed.error.issues, inputSchema(), taken));
      try {
        const answer = await operation.run(parsed.data, caller);
        const step = next(answer, parsed.data);
        return {
          content: [
            { type: 'text', text: `${say(answer)}\nNext: ${step}` },
            ...(links?.(answer, parsed.data) ?? []),
          ],
          structuredContent: shownValue(outputSchema(), { ...answer, next: step }) as Record<string, unknown>,
        };
      } catch (error) {
        if (!isExpected(error)) throw error;
        const advice = advise?.(error, parsed.data, caller);
        return failed(advice === undefined ? error.message : `${error.message}\n${advice}`);
      }
    },
  };
}

/** Our own failures, and those of system calls: a full disk is not a bug. */
function isExpected(error: unknown): error is Error {
  return error instanceof RunnerError || (error instanceof Error && 'syscall' in error);
}

/** What was sent may be part of the message, and as long as it likes. */
const FAILURE_MAX_CHARS = 2000;

function failed(text: string): CallToolResult {
  const half = FAILURE_MAX_CHARS / 2;
  const shown = text.length > FAILURE_MAX_CHARS ? `${text.slice(0, half)} … ${text.slice(-half)}` : text;
  return { content: [{ type: 'text', text: shown }], isError: true };
}
