import type { PidRecord } from '../job/records.ts';
import { platform } from '../platform/index.ts';

let own: Promise<Partial<PidRecord>> | undefined;

/** This process, as the `pid` record names a supervisor: read once. */
export function supervisorFields(): Promise<Partial<PidRecord>> {
  own ??= describeOwn();
  return own;
}

async function describeOwn(): Promise<Partial<PidRecord>> {
  return {
    supervisor_pid: process.pid,
    supervisor_pgid: await platform.groupOf(process.pid),
    supervisor_identity: await platform.identify(process.pid),
    boot: await platform.boot(),
    detachment: platform.detachment(),
  };
}

/** This process, as a lease names its holder. */
export async function ownHolder(): Promise<{ pid: number; identity: string }> {
  return { pid: process.pid, identity: (await platform.identify(process.pid)) ?? '' };
}
