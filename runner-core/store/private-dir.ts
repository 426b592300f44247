import { lstatSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { errnoOf, messageOf, RunnerError } from '../errors.ts';
import { isJobId, isSafeToken } from '../job/id.ts';
import { platform } from '../platform/index.ts';
import { realPathOf } from './look.ts';
import { lstatIfAny, namesIn } from './owned-file.ts';

/** Throws `invalid` unless `path` is a real directory, not a link, that the user owns. */
export function assertOwnedDir(path: string): void {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) {
    throw new RunnerError(
      'invalid',
      `${path} is not a real directory (a link or a file lies there); remove it or choose another`,
    );
  }
  if (!platform.ownsPath(path, stat)) {
    throw new RunnerError('invalid', `${path} is not owned by the current user; choose another directory`);
  }
}

/** Makes one private directory if it is missing; true if it was. */
function makeIfMissing(path: string): boolean {
  try {
    // Most often it is there; an exception for that would cost more than the question.
    if (lstatIfAny(path)) return false;
    platform.makePrivateDir(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    if (error instanceof RunnerError) throw error;
    throw new RunnerError('system', `cannot make the directory ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function isTree(path: string): boolean {
  return lstatIfAny(path)?.isDirectory() ?? false;
}

/** What a sweep moved out of the way and is removing. */
const SWEPT = /^\.sweep-/;

/** A directory that holds jobs already, or nothing but empty directories that could become job trees. */
function isPlainlyOurs(base: string, names: readonly string[]): boolean {
  // The name alone is no proof: many a project has a folder called jobs.
  const isRun = (folder: string): boolean => namesIn(join(folder, 'jobs')).some(isJobId);
  const holdsJobs = (name: string): boolean =>
    isRun(join(base, name)) || namesIn(join(base, name)).some((run) => isRun(join(base, name, run)));
  return (
    names.some(holdsJobs) ||
    names.every(
      (name) =>
        SWEPT.test(name) ||
        (isSafeToken(name) && isTree(join(base, name)) && namesIn(join(base, name)).length === 0),
    )
  );
}

function realNameOf(path: string): string {
  return realPathOf(path) ?? resolve(path);
}

function isHome(base: string): boolean {
  return `${realNameOf(homedir())}${sep}`.startsWith(`${realNameOf(base)}${sep}`);
}

/** A home, or anything with hidden files of its own, is somebody's place even where it is private already. */
function isSomebodysPlace(base: string, names: readonly string[]): boolean {
  return names.some((name) => name.startsWith('.') && !SWEPT.test(name)) || isHome(base);
}

/** The directories that this process found to be plainly ours: it need not read them again at every start. */
const proven = new Map<string, string>();

/**
 * Throws unless `base`, which exists, may be used as it is or made private: it must be the user's own, and not hold
 * somebody's own files unless it is ours by its name. Looks only.
 */
export function assertUsableBase(base: string, isDefault: boolean): void {
  assertOwnedDir(base);
  if (isDefault) return;
  const stat = lstatSync(base);
  const isPrivate = platform.isPrivate(base, stat);
  const proof = `${stat.dev}/${stat.ino}`;
  if (isPrivate && proven.get(base) === proof) return;
  const names = readdirSync(base);
  const isOurs = isPlainlyOurs(base, names);
  if (isOurs) proven.set(base, proof);
  const foreign = !isOurs && (!isPrivate || isSomebodysPlace(base, names));
  // Nobody's home is closed to others for the jobs in it.
  if (foreign || (!isPrivate && isHome(base) && names.length > 0)) {
    throw new RunnerError(
      'invalid',
      `${base} holds files that are not peer jobs; refusing to make it a jobs root. ` +
        'Point CE_PEER_JOBS_ROOT at an empty or a new directory',
    );
  }
}

/**
 * Makes the base usable: created private, or found to be the user's and repaired. A base that was set by hand and holds
 * somebody's own files is refused and never touched; the default base is ours by its name.
 */
function ensureBase(base: string, isDefault: boolean): void {
  if (makeIfMissing(base)) return;
  assertUsableBase(base, isDefault);
  if (!platform.isPrivate(base, lstatSync(base))) platform.repairPrivateDir(base);
  if (!platform.isPrivate(base, lstatSync(base))) {
    throw new RunnerError(
      'invalid',
      `${base} cannot be made private to the current user; choose another jobs root`,
    );
  }
}

/**
 * Makes `path` and everything between it and `base`, private, and checks type and owner of each component from the base
 * down: a planted link or foreign directory aborts, and is never entered.
 */
export function ensurePrivateTree(base: string, path: string, options: { defaultBase: boolean }): void {
  ensureBase(base, options.defaultBase);
  let current = base;
  for (const component of relative(base, path).split(sep).filter(Boolean)) {
    current = join(current, component);
    makeIfMissing(current);
    assertOwnedDir(current);
  }
}

/** Whether `path` is, or can be made, a directory that the user owns and can write into; makes it if it can. */
export function isUsableBase(path: string, isWritable: (path: string) => boolean): boolean {
  try {
    makeIfMissing(path);
    assertOwnedDir(path);
    return isWritable(path);
  } catch {
    // Any refusal means: use the next candidate.
    return false;
  }
}
