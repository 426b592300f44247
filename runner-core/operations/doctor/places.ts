/** The places where jobs lie: which would be used, which are searched, and whether they are fit for it. */
import { accessSync, constants, existsSync, lstatSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../../errors.ts';
import { ROOT_ENV, WORK_RUNS_ROOT_ENV } from '../../limits.ts';
import { platform } from '../../platform/index.ts';
import { lstatIfAny } from '../../store/owned-file.ts';
import { assertUsableBase } from '../../store/private-dir.ts';
import { candidateBases, extraRunsRoots } from '../../store/roots.ts';
import type { Caller } from '../operation.ts';
import { type Finding, inWordsOf, note, ok, problem, warning } from './finding.ts';

const FREE_MIN_BYTES = 200 * 1024 * 1024;

interface Place {
  readonly path: string;
  readonly isDefault: boolean;
  /** How to point somewhere else. */
  readonly variable: string;
}

type Judgement = { readonly usable: boolean; readonly finding: Finding };

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    // That is the answer.
    return false;
  }
}

function judge({ path, isDefault, variable }: Place): Judgement {
  const elsewhere = `point ${variable} at an empty or a new directory of yours`;
  const no = (detail: string, remedy: string): Judgement => ({
    usable: false,
    finding: problem('root', detail, remedy),
  });
  if (!lstatIfAny(path)) {
    const parent = dirname(path);
    if (existsSync(parent) && isWritable(parent)) {
      return { usable: true, finding: ok('root', `${path} does not exist yet; the first start makes it`) };
    }
    return no(
      `${path} does not exist and cannot be made: ${existsSync(parent) ? 'no right to write in' : 'there is no'} ${parent}`,
      `Make ${parent} (mkdir${inWordsOf({ posix: ' -p', windows: '' })}) and give yourself the right to write there, or ${elsewhere}.`,
    );
  }
  try {
    assertUsableBase(path, isDefault);
  } catch (error) {
    return no(messageOf(error), `Remove or rename what lies at ${path} if it is yours, or ${elsewhere}.`);
  }
  if (!isWritable(path)) {
    return no(
      `${path} cannot be written to`,
      `${inWordsOf({ posix: `chmod u+rwx ${path}`, windows: `icacls "${path}" shows who may write there` })} (is it a read-only disk?), or ${elsewhere}.`,
    );
  }
  if (!platform.isPrivate(path, lstatSync(path))) {
    return {
      usable: true,
      finding: warning(
        'root',
        `${path} can be entered by others; the next start makes it private`,
        inWordsOf({ posix: `chmod 700 ${path}`, windows: `icacls "${path}" shows who can` }),
      ),
    };
  }
  return { usable: true, finding: ok('root', `${path} is yours, private and writable`) };
}

/** Every place with its judgement, which of them a start would use, and the room there. */
export function placeFindings(env: Caller['env']): Finding[] {
  const configured = Boolean(env[ROOT_ENV]);
  const places = candidateBases(env).map((path) => ({ path, isDefault: !configured, variable: ROOT_ENV }));
  const judged = places.map((place) => ({ ...place, ...judge(place) }));
  const used = judged.find(({ usable }) => usable);
  const searched = places.map(({ path }) => path).join(', ');
  const work = extraRunsRoots(env).map(({ path }) =>
    named('work runs root', judge({ path, isDefault: false, variable: WORK_RUNS_ROOT_ENV }).finding),
  );
  return [
    used
      ? ok('root', `new jobs go to ${used.path}${configured ? ` (${ROOT_ENV})` : ''}; searched: ${searched}`)
      : problem(
          'root',
          `no place for new jobs; searched: ${searched}`,
          `Point ${ROOT_ENV} at an empty or a new directory of yours.`,
        ),
    // A default that is not fit is passed over as long as another one is.
    ...judged.map(({ finding }) =>
      finding.verdict === 'problem' && used ? { ...finding, verdict: 'warning' as const } : finding,
    ),
    ...work,
    ...(used ? roomFindings(used.path) : []),
  ];
}

function named(check: string, finding: Finding): Finding {
  return { ...finding, check };
}

function roomFindings(path: string): Finding[] {
  try {
    const { bavail, bsize } = statfsSync(existsSync(path) ? path : dirname(path));
    const free = bavail * bsize;
    const mib = Math.floor(free / 1024 / 1024);
    return [
      free < FREE_MIN_BYTES
        ? warning(
            'disk',
            `only ${mib} MiB left for ${path}; a job's log alone may take 10 MiB`,
            'peer-jobs prune --dry-run shows what could go; or make room on that disk.',
          )
        : ok('disk', `${mib} MiB left`),
    ];
  } catch (error) {
    return [note('disk', `the room left cannot be told (${messageOf(error)})`)];
  }
}
