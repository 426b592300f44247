import type { CallToolResult, Tool as ToolDefinition } from '@modelcontextprotocol/sdk/types.js';
import type * as z from 'zod/mini';
import { type Caller, type Operation, RunnerError } from '../runner-core/index.ts';
import { explainIssues } from './explain-issues.ts';
import { dropNulls, type JsonSchema, schemaOf, withoutNulls } from './json-schema.ts';
import { lenient } from './lenient-input.ts';

/** One operation as a tool. */
export interface Tool {
  readonly name: string;
  definition(): ToolDefinition;
  /** Expected failures are answers too (`isError`, with what to do); only bugs throw. */
  call(args: unknown, caller: Caller): Promise<CallToolResult>;
}

export interface ToolParts<O extends z.ZodMiniObject> {
  /** A short text beside the structured answer; ends with the next step. */
  readonly say: (output: z.output<O>) => string;
  /** Arguments that the schema would take and that still cannot be meant: what to pass instead. */
  readonly refuse?: (args: unknown) => string | undefined;
  readonly links?: (output: z.output<O>) => CallToolResult['content'];
}

export function toTool<I extends z.ZodMiniObject, O extends z.ZodMiniObject>(
  operation: Operation<I, O>,
  { say, refuse, links }: ToolParts<O>,
): Tool {
  let input: JsonSchema | undefined;
  const inputSchema = (): JsonSchema => {
    input ??= schemaOf(operation.input, 'input');
    return input;
  };
  return {
    name: operation.tool,
    definition: () =>
      ({
        name: operation.tool,
        title: operation.title,
        description: operation.description,
        inputSchema: inputSchema(),
        outputSchema: withoutNulls(schemaOf(operation.output, 'output')),
        annotations: { title: operation.title, ...operation.annotations },
      }) as ToolDefinition,
    call: async (args, caller) => {
      const refusal = refuse?.(args);
      if (refusal !== undefined) return failed(refusal);
      const taken = lenient(inputSchema(), args ?? {});
      const parsed = operation.input.safeParse(taken);
      if (!parsed.success) return failed(explainIssues(parsed.error.issues, inputSchema(), taken));
      try {
        // Parsed once more, so that nothing goes out that the schema does not show: clients refuse such answers.
        const output = operation.output.parse(await operation.run(parsed.data, caller));
        return {
          content: [{ type: 'text', text: say(output) }, ...(links?.(output) ?? [])],
          structuredContent: dropNulls(output) as Record<string, unknown>,
        };
      } catch (error) {
        if (isExpected(error)) return failed(error.message);
        throw error;
      }
    },
  };
}

/** Our own failures, and those of system calls: a full disk is not a bug. */
function isExpected(error: unknown): error is Error {
  return error instanceof RunnerError || (error instanceof Error && 'syscall' in error);
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
