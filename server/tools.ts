import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { list, log, reap, result, start, status, wait } from '../runner-core/index.ts';
import { jobUri } from './job-uri.ts';
import {
  nextForJob,
  nextForListed,
  nextForLog,
  nextForReaped,
  nextForResult,
  nextForStates,
} from './next-step.ts';
import { refuseShellLine } from './refuse-shell-line.ts';
import { sayListed, sayPage, sayReaped, sayStarted, sayStates } from './say.ts';
import { type Tool, toTool } from './tool-adapter.ts';
import { whereItLooked } from './where-it-looked.ts';

/** Every tool, in the order of their use. */
export const TOOLS: readonly Tool[] = [
  toTool(start, {
    say: sayStarted,
    next: nextForJob,
    refuse: refuseShellLine,
    advise: whereItLooked,
  }),
  toTool(wait, { say: sayStates, next: nextForStates }),
  toTool(status, { say: sayStates, next: nextForStates }),
  toTool(result, {
    say: sayPage,
    next: nextForResult,
    links: ({ next_offset }, { job, path }) =>
      job !== undefined && path === undefined && next_offset !== null ? linkTo(job, 'result') : [],
  }),
  toTool(log, {
    say: sayPage,
    next: nextForLog,
    links: ({ offset, next_offset, total_bytes }, { job }) =>
      offset > 0 || next_offset < total_bytes ? linkTo(job, 'log') : [],
  }),
  toTool(reap, { say: sayReaped, next: nextForReaped }),
  toTool(list, { say: sayListed, next: nextForListed }),
];

function linkTo(job: string, file: 'log' | 'result'): CallToolResult['content'] {
  const uri = jobUri(job, file);
  return uri === undefined ? [] : [{ type: 'resource_link', uri, name: `${file} of ${job}` }];
}
