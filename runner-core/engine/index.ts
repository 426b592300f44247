/**
 * Which engine a job belongs to, and what is asked of either. Jobs of this machine take the direct way: of any other
 * engine nothing is loaded before there is a job of it.
 */
import { isTerminal, type JobState } from '../job/state.ts';
import { fileOf, recordedState } from '../store/job-dir.ts';
import { lstatIfAny } from '../store/owned-file.ts';
import { local } from './local.ts';
import type { Engine, EngineName } from './port.ts';

export async function engineNamed(name: EngineName): Promise<Engine> {
  return name === 'local' ? local : (await import('./slurm.ts')).slurm;
}

/** Whether a job was given to another engine than this machine. */
export function isElsewhere(jobDir: string): boolean {
  try {
    return lstatIfAny(fileOf(jobDir, 'engine')) !== undefined;
  } catch {
    // Neither there nor absent; recordedState says what that makes of the job.
    return false;
  }
}

async function engineOf(jobDir: string): Promise<Engine> {
  return engineNamed(isElsewhere(jobDir) ? 'slurm' : 'local');
}

/** The true state of a job; see `Engine.settle`. A settled job is the same with every engine. */
export async function settle(jobDir: string, entry: string): Promise<JobState> {
  if (!isElsewhere(jobDir)) return local.settle(jobDir, entry);
  const state = recordedState(jobDir);
  return state === 'running' ? (await engineNamed('slurm')).settle(jobDir, entry) : state;
}

export async function reapJob(jobDir: string, graceMs: number, among: number): Promise<JobState> {
  const state = recordedState(jobDir);
  return isTerminal(state) ? state : (await engineOf(jobDir)).reap(jobDir, graceMs, among);
}

export async function isLive(jobDir: string): Promise<boolean> {
  return (await engineOf(jobDir)).isLive(jobDir);
}
