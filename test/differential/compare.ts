/** Plays a scenario on both sides at once and holds their observations against each other. */
import { describe, expect, test } from 'vitest';
import { commandOf, referenceMissing, type SideName } from '../support/programs.ts';
import { Play } from './play.ts';

export interface Scenario {
  readonly name: string;
  /** Trace lines, or beginnings of them, that the reference must have shown: the scenario did what its name says. */
  readonly shows: readonly string[];
  readonly needs?: 'root' | undefined;
  play(play: Play): Promise<void>;
}

/** Why tests against the reference cannot run here; printed once a file. */
export const unavailable = referenceMissing();
// One clear failure a file when there is nothing to test.
if (!unavailable) commandOf('ours');

/** The suite of a table of scenarios, one named test each. */
export function compare(title: string, scenarios: readonly Scenario[]): void {
  sayIfSkipped(title);
  describe.skipIf(unavailable)(title, () => {
    for (const scenario of scenarios) {
      const missing = scenario.needs === 'root' && process.geteuid?.() !== 0 ? 'needs root' : undefined;
      test(scenario.name, async (context) => {
        if (missing) {
          process.stderr.write(`skipped: ${title} > ${scenario.name}: ${missing}\n`);
          context.skip(missing);
        }
        const { reference, ours } = await playBoth(scenario.play);
        expectShown(reference, scenario.shows);
        expect({ trace: ours.trace, records: ours.records }).toStrictEqual({
          trace: reference.trace,
          records: reference.records,
        });
      });
    }
  });
}

export function sayIfSkipped(title: string): void {
  if (unavailable) process.stderr.write(`skipped: ${title}: ${unavailable}\n`);
}

export async function playBoth(part: (play: Play) => Promise<void>): Promise<Record<SideName, Play>> {
  const [reference, ours] = await Promise.allSettled([playOne('reference', part), playOne('ours', part)]);
  if (reference.status === 'rejected') throw reference.reason;
  if (ours.status === 'rejected') throw ours.reason;
  return { reference: reference.value, ours: ours.value };
}

async function playOne(side: SideName, part: (play: Play) => Promise<void>): Promise<Play> {
  const play = Play.open(side);
  try {
    await part(play);
    return play;
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new Error(`${side}: ${what}\nafter ${play.trace.join('\n      ')}`, { cause: error });
  } finally {
    await play.close();
  }
}

/** Fails unless each of `shown` begins a line of the trace. */
export function expectShown(play: Play, shown: readonly string[]): void {
  for (const begin of shown) {
    if (play.trace.some((line) => line.startsWith(begin))) continue;
    expect.fail(`${play.side} did not show ${begin}\nbut ${play.trace.join('\n    ')}`);
  }
}
