/**
 * What the server sees where its client has started it, for a model whose program is not found or whose worker misses a
 * variable. A person has `peer-jobs doctor`, which looks from a shell and so sees something else.
 */
import { type Caller, forPeople } from '../runner-core/index.ts';
import { isSessionVariable } from './harness-env.ts';
import type { ResourceContent } from './resources.ts';

export const DOCTOR_URI = 'peer-jobs://doctor';

export const DOCTOR_RESOURCE = {
  uri: DOCTOR_URI,
  name: 'doctor',
  title: 'What the server sees',
  mimeType: 'text/plain',
  description:
    'The PATH and folder that jobs start with, which variables they inherit, where they lie, and what to put right.',
};

/** A shell has some thirty; below this, a client has passed on next to nothing. */
const FEW_VARIABLES = 12;

export interface Surroundings {
  readonly version: string;
  /** Name and version, as the client gave them. */
  readonly client: string;
  readonly longestWaitSecs: number;
  /** The server's environment, before anything was taken out. */
  readonly env: Caller['env'];
  /** The folder that the server was started in. */
  readonly ownFolder: string;
}

interface Line {
  readonly verdict: string;
  readonly check: string;
  readonly detail: string;
  readonly remedy: string | null;
}

export async function examine(seen: Surroundings, caller: Caller): Promise<ResourceContent> {
  const doctor = await forPeople.doctor();
  const { findings, healthy } = await doctor.run({}, caller);
  const lines: Line[] = [clientLine(seen), folderLine(seen, caller), ...variableLines(seen), ...findings];
  const text = [
    `What the MCP server of peer-jobs ${seen.version} sees. A remedy that is a command is run in a shell, as: node ${caller.entry} …`,
    ...lines.map(sayLine),
    healthy ? 'Nothing is wrong.' : 'Something does not work: see problem above.',
  ].join('\n');
  return { uri: DOCTOR_URI, mimeType: 'text/plain', text: `${text}\n` };
}

function sayLine({ verdict, check, detail, remedy }: Line): string {
  return `${verdict.padEnd(7)} ${check}: ${detail}${remedy === null ? '' : ` → ${remedy}`}`;
}

function clientLine({ client, longestWaitSecs }: Surroundings): Line {
  const longest = longestWaitSecs > 100_000 ? 'as long as the job' : `at most ${longestWaitSecs} s`;
  const detail = `${client}; one call waits ${longest}`;
  return { verdict: 'ok', check: 'client', detail, remedy: null };
}

function folderLine({ ownFolder }: Surroundings, { cwd }: Caller): Line {
  const named = cwd === ownFolder ? 'where the server was started' : 'the first root of the client';
  const line = { check: 'folder', detail: `relative paths count from ${cwd}, ${named}` };
  const isTop = cwd === '/' || /^[a-z]:\\(windows(\\|$)|$)/i.test(cwd);
  return isTop
    ? { ...line, verdict: 'warning', remedy: 'The client has named no project: pass cwd to start_job.' }
    : { ...line, verdict: 'ok', remedy: null };
}

function variableLines({ env }: Surroundings): Line[] {
  const names = Object.keys(env).sort();
  const withheld = names.filter(isSessionVariable);
  const kept = names.filter((name) => !isSessionVariable(name));
  const check = 'variables';
  const passed: Line =
    kept.length < FEW_VARIABLES
      ? {
          verdict: 'warning',
          check,
          detail: `jobs inherit no more than ${kept.join(', ')}: what the user's shell exports did not get here`,
          remedy:
            "Name what a job needs in its env, or once for all in the client's settings of this server (Codex: env_vars or env).",
        }
      : { verdict: 'ok', check, detail: `jobs inherit ${kept.join(', ')}`, remedy: null };
  const detail = `kept from jobs, as they belong to the client's own session: ${withheld.join(', ')}`;
  return withheld.length === 0
    ? [passed]
    : [passed, { verdict: 'ok', check, detail, remedy: 'A job that wants one names it in its env.' }];
}
