/** Faults in system calls, by strace: a signal at, or an error from, the Nth call of a kind (strace(1), `-e inject`). */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Argv, commandOf, repoRoot } from '../support/programs.ts';
import type { TempBase } from '../support/temp-base.ts';

/** Why strace cannot be used here, or undefined when it can. */
export const tracingMissing: string | undefined = whyNot();

function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'strace is for Linux';
  try {
    execFileSync('strace', ['-o', '/dev/null', '-e', 'trace=none', 'true'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'no strace on this machine, or tracing is forbidden';
  }
}

/** What changes the disk. All of Node's synchronous calls come from the main thread, which is the only one traced. */
const CHANGES = 'openat,write,pwrite64,fsync,ftruncate,rename,link,unlink,mkdir,rmdir,utimensat,chmod';

export interface Step {
  readonly syscall: string;
  /** Which call of that kind it is, counted from the start of the program. */
  readonly ordinal: number;
  readonly line: string;
}

export interface Fault {
  readonly step: Step;
  /** `KILL`, `STOP`, or an errno. */
  readonly effect: string;
  /** From that call on, not at it alone: a disk that became full and stays so. */
  readonly lasting: boolean;
  /** At so many calls from that one on, where it does not last. */
  readonly times?: number;
}

export function nameOf({ step, effect, lasting }: Fault): string {
  return `${effect} at ${step.syscall} ${step.ordinal}${lasting ? '+' : ''} (${step.line.slice(0, 160)})`;
}

function options(trace: string, fault: Fault | undefined): string[] {
  if (!fault) return ['-o', trace, '-y', '-e', `trace=${CHANGES}`, '-e', 'signal=none'];
  const { syscall, ordinal } = fault.step;
  const what = /^E/.test(fault.effect) ? `error=${fault.effect}` : `signal=${fault.effect}`;
  const when = `${ordinal}${lastsUntil(fault)}`;
  return [
    '-o',
    trace,
    '-e',
    `trace=${syscall}`,
    '-e',
    `inject=${syscall}:${what}:when=${when}`,
    '-e',
    'signal=none',
  ];
}

/** A supervisor publishes so often: at once, and after each of its pauses. */
const PUBLISHING_TRIES = 7;

/**
 * At its end koffi flushes descriptors 1 and 2 with fsync(2), and waits for itself for ever where that fails. Those are
 * no disk: a lasting error of fsync ends with the last try.
 */
function lastsUntil({ step, lasting, times = 1 }: Fault): string {
  if (!lasting) return times === 1 ? '' : `..${step.ordinal + times - 1}`;
  return step.syscall === 'fsync' ? `..${step.ordinal + PUBLISHING_TRIES - 1}` : '+';
}

/** A command of ours, under the fault. Without one its steps are written to `trace`. */
export function tracedCommand(trace: string, fault?: Fault): Argv {
  return ['strace', ...options(trace, fault), ...commandOf('ours')];
}

/** The command line, with every supervisor that it detaches under the fault; the command itself is not. */
export function withTracedSupervisor(temp: TempBase, trace: string, fault?: Fault): Argv {
  const dist = join(repoRoot, 'dist');
  const real = join(dist, 'peer-jobs.mjs');
  // The program that is nothing but a supervisor, where there is one.
  const lean = readdirSync(dist).find((name) => /^supervisor-.*\.cjs$/.test(name));
  const supervisor = join(dist, lean ?? 'peer-jobs.mjs');
  const folder = join(temp.root, 'traced');
  mkdirSync(folder, { recursive: true });
  const copy = join(folder, 'peer-jobs.mjs');
  const argv = JSON.stringify([...options(trace, fault), process.execPath, supervisor, '__supervise']);
  const detour =
    "import { spawnSync as traced } from 'node:child_process';" +
    `if (process.argv[2] === '__supervise') { traced('strace', ${argv}, { stdio: 'inherit' }); process.exit(0); }\n`;
  writeFileSync(copy, readFileSync(real, 'utf8').replace(/^(#!.*\n)?/, `$1${detour}`));
  return [process.execPath, copy];
}

/** The steps of a traced run that touch a path below `root`. */
export function stepsIn(trace: string, root: string): Step[] {
  const counts = new Map<string, number>();
  const steps: Step[] = [];
  for (const line of readFileSync(trace, 'utf8').split('\n')) {
    const syscall = /^(\w+)\(/.exec(line)?.[1];
    if (syscall === undefined) continue;
    const ordinal = (counts.get(syscall) ?? 0) + 1;
    counts.set(syscall, ordinal);
    // Opens that create nothing change nothing.
    if (!line.includes(root) || (syscall === 'openat' && !line.includes('O_CREAT'))) continue;
    steps.push({ syscall, ordinal, line: line.replaceAll(root, '') });
  }
  return steps;
}

/** The errors that a call of the kind can meet on a full, read-only or broken disk. */
export function errorsOf(syscall: string): readonly string[] {
  switch (syscall) {
    case 'write':
    case 'pwrite64':
    case 'fsync':
      return ['ENOSPC', 'EIO', 'EDQUOT'];
    case 'ftruncate':
      return ['EIO'];
    default:
      return ['ENOSPC', 'EIO', 'EROFS'];
  }
}
