import * as z from 'zod/mini';

/** What a new supervisor is told over its pipe. */
const startSpec = z.strictObject({
  mode: z.literal('start'),
  jobDir: z.string(),
  argv: z.array(z.string()).check(z.minLength(1)),
  cwd: z.string(),
  /** Pairs: a record would lose a variable called `__proto__`. */
  env: z.array(z.tuple([z.string(), z.string()])),
  /** Starts the worker only if the right to do so is still there. */
  keyed: z.optional(z.boolean()),
});

/** Takes over a job whose supervisor is gone; `lease` is the number its sender holds. */
const adoptSpec = z.strictObject({
  mode: z.literal('adopt'),
  jobDir: z.string(),
  lease: z.number(),
});

export const supervisorSpec = z.discriminatedUnion('mode', [startSpec, adoptSpec]);
export type SupervisorSpec = z.infer<typeof supervisorSpec>;
export type StartSpec = z.infer<typeof startSpec>;
export type AdoptSpec = z.infer<typeof adoptSpec>;

/** The one line with which a supervisor answers: it holds its job, or why it does not. */
export const acknowledgement = z.union([
  z.strictObject({ ok: z.literal(true) }),
  z.strictObject({ ok: z.literal(false), problem: z.string() }),
]);
