import type { Readable, Writable } from 'node:stream';

/** A close that hangs must not keep a server alive whose client is gone. */
const BACKSTOP_MS = 1500;

export interface Ending {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Lets go of everything; may be slow, may fail. */
  close(): Promise<void>;
  exit(): void;
}

/**
 * Ends the server when its client has closed a pipe or signals, once, whichever comes first. Jobs are not concerned:
 * they are nobody's children.
 */
export function endWithClient({ stdin, stdout, close, exit }: Ending): void {
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    setTimeout(exit, BACKSTOP_MS).unref();
    close().then(exit, exit);
  };
  stdin.once('end', end).once('close', end).once('error', end);
  // EPIPE: nobody reads any more. Without a listener it would be an uncaught exception.
  stdout.on('error', end).once('close', end);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end);
}
