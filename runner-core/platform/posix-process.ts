import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { messageOf, RunnerError } from '../errors.ts';
import type { Ending } from '../job/classify.ts';
import { JOB_ID_ENV, SUPERVISOR_ENV } from '../limits.ts';
import { nodeProgram } from './node-program.ts';
import type { RunningWorker, WaitingSupervisor, WorkerOrder } from './port.ts';
import { assertExecutableFormat } from './posix-launch.ts';
import type { ProcessTable } from './process-table.ts';

/**
 * Starts the supervisor in the background of a shell that exits at once, so that it is nobody's child, in a session of
 * its own. The spec comes over descriptor 3: Node closes a child's stdin when the child has exited, which the shell does
 * at once, and a background list gets /dev/null as its stdin (POSIX sh, 2.9.3).
 */
const ORPHANED = '"$@" <&3 3<&- &';

/** Before the spec, which is JSON: go through a job that does nothing. */
const REHEARSAL = '\n';
/** A spec that is there already is seen with it: no shorter than any pipe gives at once (pipe(7)). */
const FIRST_READ_BYTES = 64 * 1024;

/** Runs a detached supervisor, which waits for its spec at the other end of a pipe. */
export async function startPosixSupervisor(entry: string, table: ProcessTable): Promise<WaitingSupervisor> {
  const { spawn } = await import('node:child_process');
  // Loaded by then; at the top it would be loaded for every command.
  const { Writable } = await import('node:stream');
  const shell = spawn('/bin/sh', ['-c', ORPHANED, 'sh', nodeProgram(), entry, '__supervise'], {
    cwd: '/',
    detached: true,
    // The caller's environment travels in the spec; NODE_OPTIONS and the like must not reach the supervisor.
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', [SUPERVISOR_ENV]: '1' },
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  const [, , , specPipe] = shell.stdio;
  if (!(specPipe instanceof Writable) || !shell.stdout) throw new RunnerError('system', 'cannot make a pipe');
  const { stdout } = shell;
  const failed = once(shell, 'error').then(([error]) => Promise.reject(error));
  // Told when somebody waits for the answer.
  failed.catch(() => undefined);
  // A supervisor that died is told by the missing answer, not by the broken pipe.
  specPipe.on('error', () => undefined);
  for (const end of [shell, specPipe, stdout]) unref(end);
  const dismiss = (): void => {
    specPipe.destroy();
    stdout.destroy();
  };
  const instruct = async (spec: string, budgetMs: number): Promise<string> => {
    let answer = '';
    const timer = setTimeout(dismiss, budgetMs);
    stdout.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
      if (answer.includes('\n')) stdout.destroy();
    });
    specPipe.end(spec);
    try {
      if (!stdout.closed) await Promise.race([once(stdout, 'close'), failed]);
    } catch (error) {
      throw new RunnerError('system', `cannot run /bin/sh to detach the supervisor: ${messageOf(error)}`, {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
    if (answer.endsWith('\n')) return answer;
    await endSession(shell.pid, table);
    throw new RunnerError('system', 'the supervisor did not acknowledge');
  };
  return { instruct, dismiss, rehearse: () => void specPipe.write(REHEARSAL) };
}

/** Waiting for its spec, a supervisor must not keep its caller from ending. */
function unref(end: object): void {
  if ('unref' in end && typeof end.unref === 'function') end.unref();
}

/** Ends the supervisor that never answered, so that no unreachable one is left: all that is left of its shell's session. */
async function endSession(sid: number | undefined, table: ProcessTable): Promise<void> {
  const marks = table.marks(undefined);
  for (const row of await table.list()) {
    if (row.sid === sid && marks.isSupervisor(row.pid) && (await table.isAlive(row))) {
      signalProcess(row.pid, 'SIGKILL');
    }
  }
}

/** Signals a process, or its group where `pid` is negative; 0 only asks. False where there was nothing to signal, or no permission. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    // ESRCH: it is gone, which is what a signal is for. EPERM: the tree walk names it as left over.
    return false;
  }
}

/** In a new supervisor: closes whatever descriptors its caller leaked. */
export function dropLeakedDescriptors(table: ProcessTable): void {
  for (const fd of table.inheritedDescriptors()) closeSync(fd);
}

/** Loads and reads what the start of a worker needs, while nobody waits for it yet. */
export async function prepareToSpawn(table: ProcessTable): Promise<void> {
  await import('node:child_process');
  await table.identify(process.pid);
}

/** In a new supervisor: reads the whole spec, and rehearses if that is asked for and the spec is not there yet. */
export async function receivePosixSpec(
  rehearse: () => Promise<void>,
): Promise<{ spec: string; acknowledge(line: string): void }> {
  const begin = Buffer.alloc(FIRST_READ_BYTES);
  const head = begin.subarray(0, readSync(0, begin));
  if (head.toString('latin1') === REHEARSAL) await rehearse();
  const spec = Buffer.concat([head, readFileSync(0)]).toString('utf8');
  replaceDescriptor(0, 'r');
  return {
    spec,
    acknowledge: (line) => {
      try {
        writeSync(1, `${line}\n`);
      } catch {
        // The caller is dead. The job is not.
      }
      replaceDescriptor(1, 'w');
    },
  };
}

/** open(2) gives the lowest free number, which is the one just closed. */
function replaceDescriptor(fd: number, flags: 'r' | 'w'): void {
  closeSync(fd);
  openSync('/dev/null', flags);
}

/** Children that libuv waits for; nobody else may, or their exit status is lost. */
export const awaitedChildren = new Set<number>();

/** Starts the worker as the leader of its own session and group. Throws if it could not be launched. */
export async function spawnPosixWorker(order: WorkerOrder, table: ProcessTable): Promise<RunningWorker> {
  const [program = '', ...args] = order.argv;
  assertExecutableFormat(program);
  const { spawn } = await import('node:child_process');
  const child = spawn(program, args, {
    cwd: order.cwd,
    env: { ...order.env, [JOB_ID_ENV]: order.jobId },
    detached: true,
    stdio: ['ignore', order.logFd, order.logFd],
  });
  const ended = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) =>
      resolve(
        signal === null
          ? { kind: 'exited', code: code ?? 0 }
          : { kind: 'signaled', signal: constants.signals[signal] },
      ),
    );
  });
  await once(child, 'spawn');
  // `spawn` is emitted only for a child that has a pid.
  const pid = child.pid ?? 0;
  awaitedChildren.add(pid);
  void ended.then(() => awaitedChildren.delete(pid));
  return { pid, identity: await table.identify(pid), ended };
}
