/** The comparison: everybody in turn, again and again, so that whatever else the machine does meets all alike. */
import type { Argv } from '../support/programs.ts';
import type { Contender } from './contenders.ts';
import { Samples, timed } from './figures.ts';
import { Gate } from './gate.ts';
import { pause } from './interruption.ts';
import { type ProcessOptions, runWhole } from './whole-process.ts';

/** Until what a start sets going behind its answer (the next warm supervisor, a daemon's books) is over. */
const AFTER_START_MS = 700;
/** Until a client that waits surely does: a slow interpreter needs a while to come to it. */
const UNTIL_WAITING_MS = 700;
/** Asked more than once, as waiting agents do; each answer is a sample. */
const STATUS_CALLS = 3;
const BETWEEN_CALLS_MS = 100;
/** The first rounds fill caches, and are not counted. */
const WARM_UP_ROUNDS = 2;

export const MEASURES = ['start', 'status', 'exit to news'] as const;
export const FLOOR = 'bare start';

export interface Floor {
  readonly name: string;
  readonly argv: Argv;
}

/** Samples in milliseconds, by measure and contender. */
export async function compare(
  contenders: readonly Contender[],
  floors: readonly Floor[],
  { rounds, dir, options }: { rounds: number; dir: string; options: ProcessOptions },
  say: (line: string) => void,
): Promise<Samples> {
  const samples = new Samples();
  for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
    const turn = rotated(contenders, round + WARM_UP_ROUNDS);
    for (const contender of turn) {
      const figures = await oneJob(contender, dir);
      if (round < 0) continue;
      for (const measure of MEASURES) {
        for (const ms of figures[measure]) samples.add(measure, contender.name, ms);
      }
    }
    for (const { name, argv } of floors) {
      const { ms } = await timed(() => runWhole(argv, options));
      if (round >= 0) samples.add(FLOOR, name, ms);
    }
    say(`round ${round + 1} of ${rounds}`);
  }
  return samples;
}

async function oneJob(
  contender: Contender,
  dir: string,
): Promise<Record<(typeof MEASURES)[number], number[]>> {
  const gate = new Gate(dir);
  try {
    const started = await timed(() => contender.start(gate.worker));
    await pause(AFTER_START_MS);
    const status: number[] = [];
    for (let call = 0; call < STATUS_CALLS; call += 1) {
      if (call > 0) await pause(BETWEEN_CALLS_MS);
      status.push((await timed(() => contender.status(started.value))).ms);
    }
    let toldMs = 0;
    const news = contender.news(started.value).then(() => {
      toldMs = performance.now();
    });
    // A poll may fall anywhere: its length is spread over the rounds.
    await Promise.race([news, pause(UNTIL_WAITING_MS + Math.random() * contender.pollMs)]);
    const openedMs = gate.open();
    await news;
    return { start: [started.ms], status, 'exit to news': [toldMs - openedMs] };
  } finally {
    gate.close();
  }
}

function rotated<T>(list: readonly T[], by: number): T[] {
  const at = by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}
