import { closeSync, readSync, write as writeFile } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, RunnerError } from '../errors.ts';
import type { WaitingSupervisor } from './port.ts';
import { type Handle, win32 } from './win32-api.ts';
import { type CreatedProcess, closeAll } from './win32-create.ts';
import { lastError } from './win32-errors.ts';
import { identityOf, startOf, terminate } from './win32-process.ts';
import { PIPES_ENV, RELAY_ENV, startSelf } from './win32-self.ts';

const HANDLE_FLAG_INHERIT = 1;
const POLL_MS = 4;
/** Room for what a spec usually holds: an environment and a command line, 32,767 characters each at the most. */
const SPEC_PIPE_BYTES = 256 * 1024;
const ANSWER_PIPE_BYTES = 4096;

interface Pipe {
  readonly read: Handle;
  readonly write: Handle;
}

function createPipe(sizeBytes: number): Pipe {
  const read = Buffer.alloc(8);
  const write = Buffer.alloc(8);
  if (win32().CreatePipe(read, write, null, sizeBytes) === 0) throw lastError('CreatePipe');
  return { read: Number(read.readBigInt64LE()), write: Number(write.readBigInt64LE()) };
}

/**
 * Runs a detached supervisor, which waits for its spec at the other end of a pipe. A relay process in between starts it
 * and ends, so that a kill of the caller's process tree, which goes by parent pid, does not reach it.
 */
export async function startSupervisor(entry: string): Promise<WaitingSupervisor> {
  const api = win32();
  const spec = createPipe(SPEC_PIPE_BYTES);
  const answer = createPipe(ANSWER_PIPE_BYTES);
  const theirs = [spec.read, answer.write];
  let relay: CreatedProcess;
  try {
    for (const end of theirs) api.SetHandleInformation(end, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    relay = startSelf(entry, { [PIPES_ENV]: theirs.join(','), [RELAY_ENV]: entry }, theirs);
  } catch (error) {
    closeAll(spec.write, answer.read);
    throw new RunnerError('system', `cannot start a supervisor: ${messageOf(error)}`, { cause: error });
  } finally {
    // Before anything else can be started that would inherit them.
    closeAll(...theirs);
  }
  const relayIdentity = identityOf(relay.process);
  closeAll(relay.process, relay.thread);
  const writer = api.uv_open_osfhandle(spec.write);
  const reader = api.uv_open_osfhandle(answer.read);
  let open = true;
  const dismiss = (): void => {
    if (open) for (const fd of [writer, reader]) closeSync(fd);
    open = false;
  };
  const instruct = async (text: string, budgetMs: number): Promise<string> => {
    let sent: Promise<void> | undefined;
    // Only to a supervisor that can be ended should it not answer: the relay tells of it as soon as it is there.
    const send = (): void => {
      sent = sendAll(writer, text);
    };
    try {
      const heard = await listen(reader, answer.read, budgetMs, send);
      if (heard.acknowledgement !== undefined) return heard.acknowledgement;
      endSilent({ pid: relay.pid, identity: relayIdentity });
      endSilent(heard.supervisor);
    } finally {
      if (open) closeSync(reader);
      open = false;
      await (sent ?? sendAll(writer, ''));
    }
    throw new RunnerError('system', 'the supervisor did not acknowledge');
  };
  return { instruct, dismiss };
}

/** A text that the pipe has no room for waits until the supervisor reads, on another thread. */
async function sendAll(fd: number, text: string): Promise<void> {
  const data = Buffer.from(text);
  try {
    for (let written = 0; written < data.length; ) written += await write(fd, data, written);
  } catch {
    // A supervisor that died is told by the missing answer, not by the broken pipe.
  } finally {
    closeSync(fd);
  }
}

function write(fd: number, data: Buffer, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    writeFile(fd, data, from, data.length - from, null, (error, bytes) =>
      error ? reject(error) : resolve(bytes),
    );
  });
}

interface Heard {
  readonly acknowledgement: string | undefined;
  readonly supervisor: { pid: number; identity: string | undefined } | undefined;
}

/**
 * Calls `told` once the supervisor is known. Looks into the pipe instead of reading from it: a read would hold one of Node's
 * few threads until the answer.
 */
async function listen(fd: number, pipe: Handle, budgetMs: number, told: () => void): Promise<Heard> {
  const until = performance.now() + budgetMs;
  const available = Buffer.alloc(4);
  let text = '';
  let supervisor: Heard['supervisor'];
  for (;;) {
    const open = win32().PeekNamedPipe(pipe, null, 0, null, available, null) !== 0;
    const ready = open ? available.readUInt32LE() : 0;
    if (!open) text += rest(fd);
    if (ready > 0) {
      const chunk = Buffer.alloc(ready);
      text += chunk.toString('utf8', 0, readSync(fd, chunk));
    }
    const lines = text.split('\n').slice(0, -1);
    const [, pid, identity] = (!supervisor && /^supervisor (\d+) (.*)$/m.exec(lines.join('\n'))) || [];
    if (pid !== undefined) {
      supervisor = { pid: Number(pid), identity };
      told();
    }
    const acknowledgement = lines.find((line) => line.startsWith('{'));
    if (acknowledgement !== undefined || !open || performance.now() > until)
      return { acknowledgement, supervisor };
    if (ready === 0) await sleep(POLL_MS);
  }
}

/** What is left in a pipe whose other end is closed. */
function rest(fd: number): string {
  const chunk = Buffer.alloc(ANSWER_PIPE_BYTES);
  try {
    return chunk.toString('utf8', 0, readSync(fd, chunk));
  } catch {
    // Nothing is.
    return '';
  }
}

/** Ends a supervisor that never answered, so that no unreachable one is left. */
function endSilent(supervisor: Heard['supervisor']): void {
  const start = startOf(supervisor?.identity);
  if (supervisor && start !== undefined) terminate({ pid: supervisor.pid, start });
}
