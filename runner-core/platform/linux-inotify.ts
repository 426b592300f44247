import { readlinkSync, statSync } from 'node:fs';
import { allPids, descriptorsOf, readText } from './linux-proc.ts';

/** How many of its inotify instances this user has in use (inotify(7)): one a program that watches files. */
export interface InotifyUse {
  readonly used: number;
  readonly limit: number;
}

/** Undefined where the system does not tell. */
export function inotifyUse(): InotifyUse | undefined {
  const limit = Number(readText('/proc/sys/fs/inotify/max_user_instances') ?? Number.NaN);
  if (!Number.isFinite(limit)) return undefined;
  const { uid } = statSync('/proc/self');
  const used = allPids().reduce((sum, pid) => sum + instancesOf(pid, uid), 0);
  return { used, limit };
}

function instancesOf(pid: number, uid: number): number {
  const process = `/proc/${pid}`;
  try {
    if (statSync(process).uid !== uid) return 0;
    return descriptorsOf(process).filter((fd) => isInotify(`${process}/fd/${fd}`)).length;
  } catch {
    // Gone meanwhile.
    return 0;
  }
}

function isInotify(path: string): boolean {
  try {
    return readlinkSync(path) === 'anon_inode:inotify';
  } catch {
    // Closed meanwhile.
    return false;
  }
}
