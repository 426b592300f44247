import type { Stats } from 'node:fs';
import type { Ending } from '../job/classify.ts';

/** Where a recorded process is now. `unknown` counts as alive: nobody is settled on a guess. */
export type Whereabouts =
  /** `pid` is the number that it has here, which a process of another pid namespace has differently there. */
  | { readonly state: 'alive'; readonly pid: number; readonly stopped: boolean }
  | { readonly state: 'gone' }
  | { readonly state: 'unknown' };

/** What else is known of a recorded process, where its record carries no identity (the reference writes none). */
export interface Circumstances {
  /** Epoch ms between which it must have been started. */
  readonly startedAfterMs: number;
  readonly startedBeforeMs: number;
  readonly jobId: string;
  readonly runId: string | undefined;
}

/** Everything that is known of a job's processes. Pids are as recorded; identities prove them. */
export interface JobProcesses {
  readonly jobId: string;
  readonly jobDir: string;
  readonly logPath: string;
  readonly supervisor: { readonly pid: number; readonly identity: string | undefined } | undefined;
  readonly worker: { readonly pid: number; readonly identity: string | undefined } | undefined;
  readonly circumstances: Circumstances;
  /** Windows: the job object that holds the worker's tree. */
  readonly jobName: string | undefined;
}

export interface TeardownOrder {
  readonly processes: JobProcesses;
  /** Between TERM and KILL. 0 kills at once. */
  readonly graceMs: number;
  /** True in the supervisor that started the worker: its group is proven, and orphans are its children. */
  readonly own: boolean;
}

export interface WorkerOrder {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Open for appending: becomes stdout and stderr. */
  readonly logFd: number;
  readonly jobId: string;
}

export interface RunningWorker {
  readonly pid: number;
  readonly identity: string | undefined;
  readonly jobName?: string | undefined;
  readonly ended: Promise<Ending>;
}

export interface ResolvedWorker {
  /** Its program found as an absolute path. */
  readonly argv: string[];
  /** What else the record of the job is to say of it. */
  readonly record: Readonly<Record<string, string>>;
}

/** A detached supervisor that waits for its spec. Nobody's death reaches it; given no spec, it ends by itself. */
export interface WaitingSupervisor {
  /**
   * Sends the spec over a pipe, since it carries the environment, and gives the one line of acknowledgement. Throws
   * `system` where none comes within the budget; then the supervisor has been ended.
   */
  instruct(spec: string, budgetMs: number): Promise<string>;
  /** Lets it go without a spec. */
  dismiss(): void;
  /** Has it go through a job that does nothing, unless a spec is there by then. Only where the system is served by that. */
  rehearse?(): void;
}

/** One operating system behind one set of names. */
export interface Platform {
  readonly kind: 'posix' | 'windows';

  /** The bases to use where none is configured, in order of preference. */
  defaultBases(env: Readonly<Record<string, string | undefined>>): string[];
  /** Makes a directory that only its owner can enter. Throws EEXIST. */
  makePrivateDir(path: string): void;
  repairPrivateDir(path: string): void;
  isPrivate(path: string, stat: Stats): boolean;
  ownsPath(path: string, stat: Stats): boolean;
  ownsDescriptor(fd: number, stat: Stats): boolean;

  /** The argv to launch, its program found as an absolute path; throws a preflight RunnerError that says what to do. */
  resolveWorker(argv: readonly string[], cwd: string, env: Readonly<Record<string, string>>): ResolvedWorker;
  /** Two environment names with the same key are the same variable. */
  variableKey(name: string): string;

  /** A stable name for this very process, or undefined if it is gone or cannot be read. */
  identify(pid: number): Promise<string | undefined>;
  whereabouts(pid: number, identity: string | undefined, known?: Circumstances): Promise<Whereabouts>;
  /** The process group, where the system has such. */
  groupOf(pid: number): Promise<number | undefined>;
  /** The live supervisor that has this log open: for a job whose `pid` record cannot be read. */
  findSupervisor(logPath: string): Promise<{ pid: number; identity: string | undefined } | undefined>;
  /** The living worker of a job, found by its mark, or by what the system tells of its tree: likewise. */
  findWorker(job: JobProcesses): Promise<{ pid: number; identity: string | undefined } | undefined>;
  /** Lets a stopped process go on. */
  resume(pid: number): void;
  /** Names the boot that monotonic times count in. */
  boot(): Promise<string>;

  /** Detaches a supervisor; `entry` is the absolute path of the file that runs it. */
  startSupervisor(entry: string): Promise<WaitingSupervisor>;
  /**
   * In a new supervisor: waits for the spec, and lets go of everything that was its caller's. Undefined in a process that
   * only had to start the supervisor, and is to end. `rehearse` is called where the caller asks for that meanwhile.
   */
  receiveSpec(
    rehearse: () => Promise<void>,
  ): Promise<{ spec: string; acknowledge(line: string): void } | undefined>;
  /** In a supervisor: how free it is of its caller, for the record, where that is not certain. */
  detachment(): string | undefined;
  /**
   * Once per supervisor, before it waits for its spec: does whatever would only delay the start of the worker later. From
   * then on orphans of the worker become its children, where the system can do that.
   */
  prepareToSupervise(): Promise<void>;

  spawnWorker(order: WorkerOrder): Promise<RunningWorker>;
  /** Resolves when a process that is not our child has ended. */
  awaitEnd(pid: number, identity: string | undefined, known?: Circumstances): Promise<void>;

  requestReap(job: JobProcesses): Promise<boolean>;
  /** Calls back once for each request to reap this job. Returns what ends that. */
  onReapRequest(jobDir: string, callback: () => void): () => void;

  /**
   * In a supervisor whose own worker has ended: true where the system says that nothing is left of the worker's tree.
   * False where that is not so, or it cannot tell.
   */
  knowsNoDescendants(): boolean;
  /** Ends the whole tree; gives what could not be ended, as `pid` texts. */
  tearDown(order: TeardownOrder): Promise<string[]>;
  /** Whether any process of the tree lives. `unknown` where that cannot be seen from here. */
  treeLives(job: JobProcesses): Promise<'yes' | 'no' | 'unknown'>;
}
