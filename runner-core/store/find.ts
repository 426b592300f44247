import { readdirSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { RunnerError } from '../errors.ts';
import { isJobId, isSafeToken } from '../job/id.ts';
import { readMeta } from './job-dir.ts';
import { realPathOf, statOf } from './look.ts';
import { candidateBases, type Environment, extraRunsRoots, type RunsRoot, runsRootsOf } from './roots.ts';

/** Names of the directories in `path`; links are not followed, and hidden work of a sweep is left out. */
function directories(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isSafeToken(entry.name) && !entry.name.startsWith('.'))
      .map((entry) => entry.name);
  } catch {
    // Not there, or closed to us: no jobs to be found in it.
    return [];
  }
}

function allRunsRoots(env: Environment, skill: string | undefined): RunsRoot[] {
  if (skill !== undefined) return runsRootsOf(env, skill);
  const roots = candidateBases(env).flatMap((base) =>
    directories(base).map((name) => ({ path: join(base, name), skill: name })),
  );
  return [...roots, ...extraRunsRoots(env)];
}

/** Every run folder in which a job may lie. */
export function* runFolders(
  env: Environment,
  skill?: string,
): Generator<{ path: string; skill: string; runId: string }> {
  const seen = new Set<string | undefined>();
  for (const root of allRunsRoots(env, skill)) {
    // Two bases, or the runs of ce-work, may be one place under two names.
    const place = realPathOf(root.path);
    if (seen.has(place)) continue;
    seen.add(place);
    for (const runId of directories(root.path))
      yield { path: join(root.path, runId), skill: root.skill, runId };
  }
}

/** The job directories of one run folder. */
export function jobsIn(runFolder: string): string[] {
  const jobs = join(runFolder, 'jobs');
  if (!statOf(jobs)?.isDirectory()) return [];
  return directories(jobs)
    .filter(isJobId)
    .map((name) => join(jobs, name));
}

const SHOWN_MAX = 200;

/** A reference as it is shown: what is none may be of any length. */
export function shortRef(ref: string): string {
  return ref.length > SHOWN_MAX ? `${ref.slice(0, SHOWN_MAX)}…` : ref;
}

/** A separator, or what Windows also takes for one. */
function looksLikePath(ref: string): boolean {
  return ref.includes('/') || (sep === '\\' && /[\\:]/.test(ref));
}

/**
 * The directory of the job that `ref` names: its id, matched as text, or the path of its directory, from `cwd`.
 * Throws `unknown` where there is none, `invalid` where `ref` can be neither.
 */
export function findJob(
  ref: string,
  options: { env: Environment; cwd: string; skill?: string | undefined },
): string {
  if (looksLikePath(ref)) return findByPath(ref, options.cwd);
  if (!isSafeToken(ref)) {
    throw new RunnerError(
      'invalid',
      `invalid job ref ${JSON.stringify(shortRef(ref))}: give a job id or the path of a job directory`,
    );
  }
  if (options.skill !== undefined && !isSafeToken(options.skill)) {
    throw new RunnerError(
      'invalid',
      `invalid skill ${JSON.stringify(shortRef(options.skill))}: use letters, digits, ".", "_" and "-"`,
    );
  }
  const before = knownPlace(ref, options);
  if (before !== undefined) return before;
  const found = new Set<string>();
  for (const run of runFolders(options.env, options.skill)) {
    const jobs = join(run.path, 'jobs');
    if (statOf(join(jobs, ref)) && statOf(jobs)?.isDirectory()) found.add(join(jobs, ref));
  }
  const [first, ...others] = found;
  if (first === undefined) {
    const places =
      options.skill === undefined
        ? candidateBases(options.env)
        : runsRootsOf(options.env, options.skill).map((root) => root.path);
    throw new RunnerError(
      'unknown',
      `job not found under ${places.join(', ')}: ${ref}; a listing shows the jobs there are`,
    );
  }
  if (others.length > 0) {
    throw new RunnerError(
      'unknown',
      `ambiguous job id ${ref}: ${found.size} jobs have it; pass the path of its directory`,
    );
  }
  rememberPlace(first);
  return first;
}

/**
 * Where jobs were found before, by id: a process that lives long need not look into every run for each question. With the
 * real path, which is another once a link lies in the place of any of its folders.
 */
const placesById = new Map<string, { readonly jobDir: string; readonly realPath: string }>();
const PLACES_MAX = 20_000;

function runsRootAbove(jobDir: string): string {
  return dirname(dirname(dirname(jobDir)));
}

/** For later look-ups of this process: where a job is that was just made or found. Not if it lies behind a link. */
export function rememberPlace(jobDir: string): void {
  const base = dirname(runsRootAbove(jobDir));
  const realPath = realPathOf(jobDir);
  const realBase = realPathOf(base);
  if (realPath === undefined || realBase === undefined) return;
  if (realPath !== join(realBase, relative(base, jobDir))) return;
  if (placesById.size >= PLACES_MAX) placesById.clear();
  placesById.set(basename(jobDir), { jobDir, realPath });
}

/** The remembered place, if it is still one and within what may be searched now. */
function knownPlace(
  ref: string,
  { env, skill }: { env: Environment; skill?: string | undefined },
): string | undefined {
  const place = placesById.get(ref);
  if (place === undefined) return undefined;
  const runsRoot = runsRootAbove(place.jobDir);
  const roots = skill === undefined ? extraRunsRoots(env) : runsRootsOf(env, skill);
  const within =
    roots.some(({ path }) => path === runsRoot) ||
    (skill === undefined && candidateBases(env).includes(dirname(runsRoot)));
  if (within && realPathOf(place.jobDir) === place.realPath) return place.jobDir;
  placesById.delete(ref);
  return undefined;
}

function findByPath(ref: string, cwd: string): string {
  const path = resolve(cwd, ref);
  const stat = statOf(path);
  // A link in place of a job directory is reported as unreadable, not as unknown.
  if (
    (stat?.isDirectory() || stat?.isSymbolicLink()) &&
    (isJobId(basename(path)) || readMeta(path)?.job_id)
  ) {
    return path;
  }
  throw new RunnerError(
    'unknown',
    `no such job directory: ${JSON.stringify(shortRef(ref))}; pass a job id, or the job_dir that start gave`,
  );
}
