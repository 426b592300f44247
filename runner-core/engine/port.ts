import type { JobState } from '../job/state.ts';
import type { Supervision } from '../job/windows.ts';
import type { SlurmOptions } from './slurm-options.ts';

export const ENGINES = ['local', 'slurm'] as const;
export type EngineName = (typeof ENGINES)[number];

/** A start before its directory is claimed. */
export interface StartRequest {
  /** The file that runs supervisors. */
  readonly entry: string;
  /** Of the caller, for the engine's own programs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly supervision: Supervision;
  readonly slurm: SlurmOptions | undefined;
}

/** A job whose directory is ready. `argv` has its program as an absolute path. */
export interface StartOrder {
  readonly jobDir: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The worker's. */
  readonly env: Readonly<Record<string, string>>;
  /** It holds a key: its worker is only started by whoever takes the right to do so (`takeRightToStart`). */
  readonly keyed: boolean;
}

/** A start under way. */
export interface Starting {
  /** The windows that will hold there. */
  readonly supervision: Supervision;
  /** Whether the job may run on another host, where the same file system has another device number. */
  readonly elsewhere: boolean;
  /** Makes the job the engine's own: from then on it needs nobody else. Throws where nothing runs of it. */
  handOver(order: StartOrder): Promise<void>;
  /** The job turned out not to be needed. */
  dismiss(): void;
}

/** What runs jobs: this machine, or a cluster. The job directory is the same with each. */
export interface Engine {
  /** Throws where it cannot run jobs at all; then nothing has been made. */
  begin(request: StartRequest): Promise<Starting>;
  /** The true state of a job, put right first where whoever supervised it is gone. Cannot tell counts as running. */
  settle(jobDir: string, entry: string): Promise<JobState>;
  /**
   * Ends a job now, whatever state it is in, and gives the state that follows. `graceMs` where the job records none; `among` is
   * how many jobs are being ended at the same time.
   */
  reap(jobDir: string, graceMs: number, among: number): Promise<JobState>;
  /** Whether anybody works for or in a job without a terminal record. Cannot tell counts as yes. */
  isLive(jobDir: string): Promise<boolean>;
}

/** How a job stands with its engine, as far as was heard last. */
export interface EngineStanding {
  readonly name: string;
  readonly id: string | null;
  readonly cluster: string | null;
  /** Where its supervisor runs. */
  readonly host: string | null;
  /** Waiting for its turn. */
  readonly queued: boolean;
  /** The engine's own word. */
  readonly state: string | null;
  /** What else there is to say of it. */
  readonly detail: string | null;
}
