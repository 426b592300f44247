/**
 * Who a test started, so that nothing of it outlives the test. Two ways in: processes that were registered, and every
 * process that can be told to be this test's: it names the test's own directory in its environment or command line,
 * works in it, holds a file of it open, or carries the id of one of its jobs. A process is only ever ended by pid, and
 * only while it is still the one that was looked at.
 */
import { basename } from 'node:path';
import { eventually } from './eventually.ts';
import {
  commandLineOf,
  identityOf,
  isAlive,
  isAliveAs,
  listPids,
  openFilesOf,
  readEnviron,
  workingDirectoryOf,
} from './proc.ts';
import { jobDirsBelow, readPids, readStatus } from './read-job.ts';

const JOB_ID_VARIABLE = 'CE_PEER_JOB_ID';
/** A supervisor may take this long to be gone after it has published, on a box with many times its work. */
const LEAVE_MS = 60_000;

interface Process {
  readonly pid: number;
  readonly identity: string;
  readonly why: string;
}

export class Ledger {
  readonly #root: string;
  readonly #registered = new Map<number, Process>();
  readonly #jobIds = new Set<string>();

  /** `root`: the directory that is this test's alone. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Holds the test to the end of this process; one that is gone already is no concern. */
  register(pid: number, why: string): void {
    const identity = identityOf(pid) ?? (isAlive(pid) ? String(pid) : undefined);
    if (identity !== undefined) this.#registered.set(pid, { pid, identity, why });
  }

  /** Remembers a job by its id, and its supervisor and worker once they are known. */
  registerJob(jobDir: string): void {
    this.#jobIds.add(basename(jobDir));
    const pids = readPids(jobDir);
    if (pids === undefined) return;
    this.register(pids.supervisor_pid, `supervisor of ${basename(jobDir)}`);
    this.register(pids.worker_pid, `worker of ${basename(jobDir)}`);
  }

  /** Every living process that is this test's, with how it is known. */
  living(): Process[] {
    for (const dir of jobDirsBelow(this.#root)) this.#jobIds.add(basename(dir));
    const found = new Map<number, Process>();
    for (const known of this.#registered.values()) {
      if (isAliveAs(known.pid, known.identity)) found.set(known.pid, known);
    }
    for (const pid of listPids()) {
      if (pid === process.pid || found.has(pid)) continue;
      const identity = identityOf(pid);
      const why = this.#mark(pid);
      if (identity !== undefined && why !== undefined && isAliveAs(pid, identity))
        found.set(pid, { pid, identity, why });
    }
    return [...found.values()];
  }

  #mark(pid: number): string | undefined {
    const environ = readEnviron(pid);
    if (environ === undefined) return undefined;
    const jobId = environ.get(JOB_ID_VARIABLE);
    if (jobId !== undefined && this.#jobIds.has(jobId)) return `${JOB_ID_VARIABLE} is ${jobId}`;
    for (const [name, value] of environ)
      if (value.includes(this.#root)) return `${name} names the test's directory`;
    if (commandLineOf(pid).includes(this.#root)) return "its command line names the test's directory";
    if (workingDirectoryOf(pid)?.startsWith(this.#root)) return "it works in the test's directory";
    for (const [fd, target] of openFilesOf(pid)) {
      if (target.startsWith(this.#root))
        return `descriptor ${fd} is open on the test's ${target.slice(this.#root.length)}`;
    }
    return undefined;
  }

  /** Ends whatever of this test still lives. For a test that is done with what it has running. */
  async endAll(): Promise<void> {
    await this.#end(() => this.living());
  }

  /** Ends the jobs that have no terminal record yet, and leaves alone what belongs to those that have one. */
  async endRunningJobs(): Promise<void> {
    await this.#end(() => {
      const settled = jobDirsBelow(this.#root).filter((dir) => readStatus(dir) !== undefined);
      const ids = new Set(settled.map((dir) => basename(dir)));
      const supervisors = new Set(settled.map((dir) => readPids(dir)?.supervisor_pid));
      const untold = [...this.#registered.values()].filter(
        ({ why }) => !/^(supervisor|worker) of /.test(why),
      );
      const spared = new Set([...supervisors, ...untold.map(({ pid }) => pid)]);
      return this.living().filter(
        ({ pid }) => !spared.has(pid) && !ids.has(readEnviron(pid)?.get(JOB_ID_VARIABLE) ?? ''),
      );
    });
  }

  async #end(targets: () => Process[]): Promise<void> {
    await eventually(() => {
      const living = targets();
      for (const { pid, identity } of living) killAs(pid, identity);
      return living.length === 0;
    }, 60_000);
  }

  /** The end of the test: what is still there soon is ended all the same, and then the test fails for it. */
  async close(): Promise<void> {
    try {
      await eventually(() => this.living().length === 0, LEAVE_MS);
    } catch {
      const survivors = this.living().map(
        ({ pid, why }) => `  ${pid} (${commandLineOf(pid) || 'no command line'}): ${why}`,
      );
      await this.endAll();
      if (survivors.length > 0) {
        throw new Error(
          `${survivors.length} process(es) survived the test:\n${survivors.slice(0, 20).join('\n')}`,
        );
      }
    }
  }
}

/** KILL to the process of that identity; nothing if it is another by now. */
export function killAs(pid: number, identity: string): void {
  if (!isAliveAs(pid, identity)) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it ended by itself in between
  }
}
