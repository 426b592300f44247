import { resolve } from 'node:path';
import { ENGINES, type EngineName } from '../engine/port.ts';
import { RunnerError } from '../errors.ts';
import { isReservedOnWindows, isSafeToken } from '../job/id.ts';
import { mayDisableIdle, type Supervision, supervisionFor } from '../job/windows.ts';
import { ENGINE_ENV, MAX_TOKEN_LENGTH } from '../limits.ts';
import { platform } from '../platform/index.ts';
import { type Workplace, workplaceFor } from '../store/roots.ts';
import type { Caller } from './operation.ts';
import type { StartInput } from './start-input.ts';
import type { KeyedStart } from './start-key.ts';

/** A start with everything decided that can be decided without touching the disk. */
export interface Plan extends KeyedStart {
  readonly request: StartInput;
  readonly skill: string;
  readonly runId: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly supervision: Supervision;
  readonly engine: EngineName;
  readonly place: Workplace;
}

/** Everything that can be judged before the disk is touched. */
export function planFor(request: StartInput, caller: Caller): Plan {
  const skill = folderName('skill', request.skill ?? caller.defaults?.skill);
  const runId = folderName('run id', request.run_id ?? caller.defaults?.runId);
  if (request.label !== undefined) tokenOf('label', request.label);
  for (const argument of request.argv) refuseUnpassable('an argument', argument);
  refuseUnpassable('the result path', request.result_path ?? '');
  refuseUnpassable('the working directory', request.cwd ?? '');
  for (const [name, value] of Object.entries(request.env ?? {})) {
    refuseUnpassable('the environment', name);
    refuseUnpassable('the environment', value ?? '');
    if (name === '' || name.includes('=')) {
      throw new RunnerError(
        'invalid',
        `invalid environment name ${JSON.stringify(name)}: give NAME without "="`,
      );
    }
  }
  if (request.idle_secs === 0 && !mayDisableIdle(skill)) {
    throw new RunnerError(
      'invalid',
      `the idle window cannot be switched off for skill ${skill}; give the seconds that the worker may be silent`,
    );
  }
  const engine = engineFor(request, caller);
  const place = workplaceFor(caller.env, skill);
  return {
    request,
    skill,
    runId,
    cwd: resolve(caller.cwd, request.cwd ?? '.'),
    env: environmentOf(caller, request.env ?? {}),
    supervision: supervisionFor(caller.env, skill, request),
    engine,
    place,
    key: request.key,
    runFolder: resolve(place.runsRoot, runId),
  };
}

/** The engine asked for, else the configured one. Throws `usage` where what is asked of Slurm would be asked of nobody. */
function engineFor({ engine, slurm }: StartInput, { env }: Caller): EngineName {
  const configured = env[ENGINE_ENV] || 'local';
  const name = engine ?? ENGINES.find((known) => known === configured);
  if (name === undefined) {
    throw new RunnerError(
      'usage',
      `${ENGINE_ENV}=${JSON.stringify(configured)} is no engine; set it to ${ENGINES.join(' or ')}, or unset it`,
    );
  }
  if (name === 'local' && slurm !== undefined && Object.keys(slurm).length > 0) {
    throw new RunnerError(
      'usage',
      `${Object.keys(slurm).join(', ')} can be asked of Slurm only: add engine slurm, or leave that out`,
    );
  }
  return name;
}

function tokenOf(what: string, value: string | undefined): string {
  if (value === undefined) throw new RunnerError('usage', `no ${what} given`);
  if (isSafeToken(value)) return value;
  const shown = JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);
  throw new RunnerError(
    'invalid',
    `invalid ${what} ${shown}: use 1 to ${MAX_TOKEN_LENGTH} of A-Z a-z 0-9 . _ - and not only dots`,
  );
}

function folderName(what: string, value: string | undefined): string {
  const name = tokenOf(what, value);
  if (platform.kind !== 'windows' || !isReservedOnWindows(name)) return name;
  throw new RunnerError(
    'invalid',
    `invalid ${what} ${JSON.stringify(name)}: Windows keeps this name for a device, or leaves off its last dot; choose another`,
  );
}

/** What would arrive as something else, or not at all. */
function refuseUnpassable(what: string, value: string): void {
  if (value.includes('\0'))
    throw new RunnerError('invalid', `${what} holds a NUL character, which no program can be given`);
  if (/\p{Surrogate}/u.test(value))
    throw new RunnerError(
      'invalid',
      `${what} holds half a character (a lone surrogate), which no program can be given`,
    );
}

function environmentOf(
  caller: Caller,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const merged = new Map<string, [string, string]>();
  for (const [name, value] of [...Object.entries(caller.env), ...Object.entries(changes)]) {
    const key = platform.variableKey(name);
    if (typeof value === 'string') merged.set(key, [name, value]);
    else merged.delete(key);
  }
  return Object.fromEntries(merged.values());
}
