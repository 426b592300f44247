import {
  listOf,
  number,
  oneOf,
  optional,
  pair,
  record,
  type Shape,
  type Shaped,
  text,
} from '../job/shape.ts';

/** What a new supervisor is told over its pipe. */
const startSpec = record({
  mode: oneOf('start'),
  jobDir: text,
  argv: listOf(text),
  cwd: text,
  /** Pairs: a record would lose a variable called `__proto__`. */
  env: listOf(pair),
  /** Starts the worker only if the right to do so is still there. */
  keyed: optional(oneOf(true, false)),
});

/** Takes over a job whose supervisor is gone; `lease` is the number its sender holds. */
const adoptSpec = record({ mode: oneOf('adopt'), jobDir: text, lease: number });

export type StartSpec = Shaped<typeof startSpec>;
export type AdoptSpec = Shaped<typeof adoptSpec>;
export type SupervisorSpec = StartSpec | AdoptSpec;
export const supervisorSpec: Shape<SupervisorSpec> = (value) => {
  const spec = startSpec(value);
  return typeof spec === 'symbol' ? adoptSpec(value) : spec;
};

/** The one line with which a supervisor answers: it holds its job, or why it does not. */
export const acknowledgement = record({ ok: oneOf(true, false), problem: optional(text) });
