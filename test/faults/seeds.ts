/** Seeded choices: the same seed makes the same ones, so a failure can be played again. */

/** How many seeds a run plays, and the first of them; `npm run faults -- --seeds 500 --seed 1` sets both. */
const SEEDS = Number(process.env.PEER_JOBS_FAULT_SEEDS ?? 12);
const FIRST_SEED = Number(process.env.PEER_JOBS_FAULT_SEED ?? 1);

export const seeds: readonly number[] = Array.from({ length: SEEDS }, (_, at) => FIRST_SEED + at);

export interface Dice {
  /** From 0 up to, and without, 1. */
  number(): number;
  pick<T>(of: readonly T[]): T;
}

/** Mulberry32: small, and good enough to scatter moments. */
export function diceOf(seed: number): Dice {
  let state = Math.imul(seed, 0x9e3779b9) >>> 0;
  const number = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    number,
    pick: <T>(of: readonly T[]): T => {
      const item = of[Math.floor(number() * of.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
  };
}
