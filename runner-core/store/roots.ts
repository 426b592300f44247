import { accessSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROOT_ENV, WORK_RUNS_ROOT_ENV, IDLE_OFF_SKILL as WORK_SKILL } from '../limits.ts';
import { platform } from '../platform/index.ts';
import { isUsableBase } from './private-dir.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A directory that holds `<run-id>/` folders, for the skill that it belongs to. */
export interface RunsRoot {
  readonly path: string;
  readonly skill: string;
}

/** Where the jobs of a skill are made. `base` is what must be private; the rest is made below it. */
export interface Workplace {
  readonly base: string;
  readonly runsRoot: string;
  readonly defaultBase: boolean;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    // That is the answer.
    return false;
  }
}

/** Every base under which a job may lie, the preferred one first: the configured one alone, else all defaults. */
export function candidateBases(env: Environment): string[] {
  const configured = env[ROOT_ENV];
  if (configured) return [resolve(configured)];
  return [...new Set(platform.defaultBases(env).map((base) => resolve(base)))];
}

function workRunsRoot(env: Environment, skill: string): string | undefined {
  const configured = skill === WORK_SKILL ? env[WORK_RUNS_ROOT_ENV] : undefined;
  return configured ? resolve(configured) : undefined;
}

/** Where to make a new job of `skill`: the first usable base. May create that base. */
export function workplaceFor(env: Environment, skill: string): Workplace {
  const runsRoot = workRunsRoot(env, skill);
  if (runsRoot !== undefined) return { base: runsRoot, runsRoot, defaultBase: false };
  const bases = candidateBases(env);
  const usable = bases.length === 1 ? bases[0] : bases.find((base) => isUsableBase(base, isWritable));
  const base = usable ?? bases.at(-1) ?? '';
  return { base, runsRoot: join(base, skill), defaultBase: !env[ROOT_ENV] };
}

/** Where jobs of `skill` may lie. */
export function runsRootsOf(env: Environment, skill: string): RunsRoot[] {
  const work = workRunsRoot(env, skill);
  const paths = work === undefined ? candidateBases(env).map((base) => join(base, skill)) : [work];
  return paths.map((path) => ({ path, skill }));
}

/** Outside every base, where jobs of the work skill lie if that was configured. */
export function extraRunsRoots(env: Environment): RunsRoot[] {
  const work = workRunsRoot(env, WORK_SKILL);
  return work === undefined ? [] : [{ path: work, skill: WORK_SKILL }];
}
