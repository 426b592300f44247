import { setTimeout as sleep } from 'node:timers/promises';
import { REAPED } from '../job/classify.ts';
import { isTerminal, type JobState, type Verdict } from '../job/state.ts';
import { askToReap, readClaim, readEngine, refresh } from '../store/engine-files.ts';
import { isOwnJobDir, jobIdOf, readMeta, recordedState } from '../store/job-dir.ts';
import { findByName, forget, scancel } from './slurm-ask.ts';
import { type Found, look, settleAs, settleUnrun } from './slurm-settle.ts';

/** Beyond the grace, what a healthy supervisor may need to notice, to end a tree and to write the record. */
const SUPERVISOR_MARGIN_MS = 8000;
const POLL_MS = 100;
/** Where Slurm does not say: its default (slurm.conf(5), KillWait). */
const KILL_WAIT_SECS = 30;

const UNRUN: Verdict = { ...REAPED, reason: `${REAPED.reason} (it had not begun)` };

/**
 * Ends a job on a cluster. One that has not begun is kept from it by our own claim, with or without Slurm's help. A running
 * one is asked to by a marker in its directory and a signal to its supervisor alone; only where that does not lead to a
 * record, Slurm ends all of it. No signal is ever sent from this host.
 */
export async function reapJob(jobDir: string, graceMs: number): Promise<JobState> {
  refresh(jobDir);
  const state = recordedState(jobDir);
  if (isTerminal(state) || !isOwnJobDir(jobDir)) return state;
  const unrun = await settleUnrun(jobDir, UNRUN);
  const id = await idOf(jobDir);
  if (unrun !== undefined) {
    if (id !== undefined) await scancel(id, jobIdOf(jobDir));
    return unrun;
  }
  try {
    askToReap(jobDir);
  } catch {
    // A full disk: the signal has to do.
  }
  if (id !== undefined) forget(id);
  const found = await look(jobDir);
  if (found.kind === 'alive') {
    const grace = (readMeta(jobDir)?.supervision?.grace ?? graceMs / 1000) * 1000;
    const told = id === undefined ? Promise.resolve(false) : scancel(id, jobIdOf(jobDir), 'TERM');
    const settled = await awaitRecord(jobDir, grace + SUPERVISOR_MARGIN_MS);
    await told;
    if (settled) return settled;
    const ended = await endInSlurm(jobDir, id);
    if (ended) return ended;
  }
  return settleAs(jobDir, await lookAgain(jobDir, id, found), judgeReaped);
}

function judgeReaped(evident: Verdict): Verdict {
  if (evident.state !== 'died-without-result') return evident;
  return { state: 'timeout', reason: `reaped by request; its supervisor was gone. ${evident.reason}` };
}

async function lookAgain(jobDir: string, id: string | undefined, before: Found): Promise<Found> {
  if (before.kind !== 'alive') return before;
  if (id !== undefined) forget(id);
  return look(jobDir);
}

/** TERM and, after KillWait, KILL to all that Slurm finds of the job. */
async function endInSlurm(jobDir: string, id: string | undefined): Promise<JobState | undefined> {
  if (id === undefined || !(await scancel(id, jobIdOf(jobDir)))) return undefined;
  const killWait = readEngine(jobDir)?.kill_wait_secs ?? KILL_WAIT_SECS;
  return awaitRecord(jobDir, killWait * 1000 + SUPERVISOR_MARGIN_MS);
}

async function idOf(jobDir: string): Promise<string | undefined> {
  const known = readClaim(jobDir)?.engine_id ?? readEngine(jobDir)?.engine_id;
  if (known) return known;
  const found = await findByName(jobIdOf(jobDir));
  return found && 'id' in found ? found.id : undefined;
}

async function awaitRecord(jobDir: string, budgetMs: number): Promise<JobState | undefined> {
  for (const until = performance.now() + budgetMs; performance.now() < until; await sleep(POLL_MS)) {
    refresh(jobDir);
    const state = recordedState(jobDir);
    if (isTerminal(state)) return state;
  }
  return undefined;
}
