import type { ProcessMarks, ProcessRow } from '../job/tree.ts';
import type { Circumstances, Whereabouts } from './port.ts';

/** What the POSIX port needs to know of the system's processes. */
export interface ProcessTable {
  boot(): Promise<string>;
  /** Also for a child that has exited and was not yet waited for. */
  identify(pid: number): Promise<string | undefined>;
  groupOf(pid: number): Promise<number | undefined>;
  /** The `start` of a row, out of an identity. */
  startOf(identity: string): number;
  locate(pid: number, identity: string | undefined, known?: Circumstances): Promise<Whereabouts>;
  list(): Promise<ProcessRow[]>;
  /** The descendants of a process; undefined where the system does not tell them without a look at everybody. */
  below(pid: number): ProcessRow[] | undefined;
  /** Whether this very process still runs; a zombie does not. */
  isAlive(row: ProcessRow): Promise<boolean>;
  /** Descriptors above 2 that this process inherited: everything Node itself opens is close-on-exec. */
  inheritedDescriptors(): number[];
  marks(log: { readonly dev: number; readonly ino: number } | undefined): ProcessMarks;
}
