import { closeSync, fsyncSync, linkSync, readdirSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OutcomeRecord } from '../job/records.ts';
import { isTerminal, type Verdict } from '../job/state.ts';
import { REASON_READ_CAP } from '../limits.ts';
import { fileOf, readOutcome, recordedState } from './job-dir.ts';
import { lstatIfAny, syncDirectory, temporaryIn, unlinkQuietly } from './owned-file.ts';
import { renameOver } from './patient.ts';
import { giveSpaceBack, type Reserved, takeSpace, writeWhole } from './reserve.ts';

type Part = Exclude<Reserved, 'pid'>;

/** A part of a record that is on the disk, but not yet in its place. */
interface Staged {
  readonly part: Part;
  readonly text: string;
  readonly path: string;
  readonly fd: number;
}

/**
 * Writes parts where nobody sees them yet, durably. All are written before the first is synced: then one commit of a
 * journal serves them all.
 */
function stage(
  jobDir: string,
  texts: Partial<Readonly<Record<Part, string>>>,
  options: { durable: boolean },
): Staged[] {
  const staged: Staged[] = [];
  try {
    for (const part of ['outcome', 'reason', 'status'] as const) {
      const text = texts[part];
      if (text === undefined) continue;
      const space = takeSpace(jobDir, part);
      staged.push({ part, text, ...space });
      writeWhole(space.fd, Buffer.from(text));
    }
    if (options.durable) for (const { fd } of staged) fsyncSync(fd);
    return staged;
  } catch (error) {
    for (const { part, path } of staged) giveSpaceBack(jobDir, part, path);
    throw error;
  } finally {
    for (const { fd } of staged) closeSync(fd);
  }
}

/**
 * Writes the terminal record, `status` last, durably, once: false where another record stands already, which is then
 * left as it is. `outcome.json` decides between several who publish at once: it is never replaced, and whoever finds
 * one goes on with what it says. An empty or torn `status` or outcome, or something planted in its place, is no record
 * and is replaced. Throws the system's error where the disk refuses; then nothing was published.
 */
export function publish(
  jobDir: string,
  verdict: Verdict,
  outcome: OutcomeRecord,
  options = { durable: true },
): boolean {
  if (isTerminal(recordedState(jobDir))) return false;
  let published: boolean;
  try {
    published = write(jobDir, { ...outcome, state: verdict.state, reason: lineOf(verdict.reason) }, options);
  } catch (error) {
    // Another one was faster, and has tidied away what was being written here.
    if (isTerminal(recordedState(jobDir))) return false;
    throw error;
  }
  // Readers see the word by now; whoever waits for it is told before the directory's own entry is synced as well.
  announce(jobDir);
  if (options.durable) syncDirectory(jobDir);
  tidy(jobDir);
  return published;
}

function write(jobDir: string, own: OutcomeRecord, options: { durable: boolean }): boolean {
  const texts = { outcome: `${JSON.stringify(own, null, 2)}\n`, ...wordsOf(own) };
  const staged = stage(jobDir, texts, options);
  const pathOf = (part: Part, text: string): string => {
    const ready = staged.find((one) => one.part === part && one.text === text);
    return ready?.path ?? stage(jobDir, { [part]: text }, options)[0]?.path ?? '';
  };
  const [details] = staged;
  const isOurs =
    details && place(details.path, fileOf(jobDir, 'outcome'), () => readOutcome(jobDir) !== undefined);
  const { reason, status } = wordsOf((isOurs ? undefined : readOutcome(jobDir)) ?? own);
  put(pathOf('reason', reason), fileOf(jobDir, 'reason'));
  return place(pathOf('status', status), fileOf(jobDir, 'status'), () => isTerminal(recordedState(jobDir)));
}

/** What the other two files say of an outcome. */
function wordsOf({ state, reason }: OutcomeRecord): { reason: string; status: string } {
  return { reason: `${lineOf(reason)}\n`, status: `${state}\n` };
}

/** A reason as one line, no longer than its readers take, the reference among them. */
function lineOf(reason: string): string {
  const data = Buffer.from(reason.replaceAll(/[\r\n]+/g, ' ').trim());
  let end = Math.min(data.length, REASON_READ_CAP - 1);
  // Not within a character of UTF-8.
  while (((data[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return data.toString('utf8', 0, end);
}

/** link(2) makes a file exist with its content, and fails if it exists: true for exactly one of any number of callers. */
function place(staged: string, path: string, stands: () => boolean): boolean {
  try {
    linkSync(staged, path);
    // The other name goes with everything else that is tidied away: nobody waits for that.
    return true;
  } catch {
    if (stands()) {
      unlinkQuietly(staged);
      return false;
    }
    // What lies there is no record, or this file system knows no hard links.
    put(staged, path);
    return true;
  }
}

/** Replaces whatever lies at `path`; a directory, which no file replaces, is moved aside first. */
function put(staged: string, path: string): void {
  try {
    renameOver(staged, path);
  } catch (error) {
    if (!lstatIfAny(path)?.isDirectory()) throw error;
    renameOver(path, temporaryIn(dirname(path)));
    renameOver(staged, path);
  }
}

/** Waiters watch `pid`, since the log beside it may be written without end. */
function announce(jobDir: string): void {
  const now = new Date();
  try {
    utimesSync(fileOf(jobDir, 'pid'), now, now);
  } catch {
    // They also look by themselves.
  }
}

/** Removes what was only needed on the way to the record. */
function tidy(jobDir: string): void {
  try {
    for (const name of readdirSync(jobDir)) {
      if (/^\.((reserve|lease|tmp|launch)-|reap$)/.test(name)) unlinkQuietly(join(jobDir, name));
    }
  } catch {
    // It is litter, no more; whoever sweeps the directory takes it along.
  }
}
