import { list, log, reap, result, start, status, wait } from '../runner-core/index.ts';
import { sayEnded, sayListed, sayPage, sayStarted, sayStates } from './say.ts';
import { type Tool, toTool } from './tool-adapter.ts';

/** Every tool, in the order of their use. */
export const TOOLS: readonly Tool[] = [
  toTool(start, { say: sayStarted, refuse: refuseShellLine }),
  toTool(wait, { say: sayStates }),
  toTool(status, { say: sayStates }),
  toTool(result, { say: (page) => sayPage(page, 'job_result') }),
  toTool(log, { say: (page) => sayPage(page, 'job_log') }),
  toTool(reap, { say: sayEnded }),
  toTool(list, { say: sayListed }),
];

/** A command line in one string cannot be split without guessing, and no program is called that. */
export function refuseShellLine(args: unknown): string | undefined {
  const argv: unknown = typeof args === 'object' && args !== null ? Reflect.get(args, 'argv') : undefined;
  const line = Array.isArray(argv) && argv.length === 1 ? argv[0] : argv;
  if (typeof line !== 'string' || line.trimStart().startsWith('[')) return undefined;
  const looksLikeLine = /[\s;&|<>$`]/.test(line.trim()) && !/^[./]/.test(line);
  if (typeof argv !== 'string' && !looksLikeLine) return undefined;
  return `argv must be a list with one string for each argument, not a command line. For a shell line pass ["sh", "-c", ${JSON.stringify(line)}]`;
}
