import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, type Job, jobNamed, killSupervisor, ready, settled, start } from '../support/jobs.ts';
import { identityOf, isAlive, isAliveAs } from '../support/proc.ts';
import { type Argv, commandOf, fixture, referenceMissing, repoRoot, sh } from '../support/programs.ts';
import { readJobFile, readLog, readReason, readStatus } from '../support/read-job.ts';
import { cleanEnv, runProgram } from '../support/run-cli.ts';
import { type TempBase, test } from '../support/temp-base.ts';

interface Escape {
  readonly name: string;
  /** Lives on until it is ended. */
  readonly worker: Argv;
  /** Exits by itself with 0 at once, and leaves its descendants behind. */
  readonly leaving?: Argv;
}

const escapes: readonly Escape[] = [
  {
    name: 'a child in a session of its own',
    worker: fixture('setsid-child.py'),
    leaving: fixture('setsid-child.py', 0),
  },
  {
    name: 'a double fork',
    worker: fixture('double-fork-child.py'),
    leaving: fixture('double-fork-child.py', 0),
  },
  {
    name: 'a double fork without environment',
    worker: fixture('double-fork-scrubbed-env.py', 'keep-log'),
    leaving: fixture('double-fork-scrubbed-env.py', 'keep-log', 0),
  },
  {
    name: 'a double fork without environment or descriptors',
    worker: fixture('double-fork-scrubbed-env.py', 'close-all'),
    leaving: fixture('double-fork-scrubbed-env.py', 'close-all', 0),
  },
  {
    name: 'deafness to TERM',
    worker: fixture('ignores-term.sh'),
    leaving: sh('trap "" TERM; sleep 60 & echo "ready $$ $!"; exit 0'),
  },
  {
    name: 'a fork storm',
    worker: fixture('fork-storm.py'),
    leaving: sh('"$@" & sleep 0.7; echo "ready $$"; exit 0', ...fixture('fork-storm.py')),
  },
  {
    name: 'a fork storm of sessions',
    worker: fixture('fork-storm.py', 'setsid'),
    leaving: sh('"$@" & sleep 0.7; echo "ready $$"; exit 0', ...fixture('fork-storm.py', 'setsid')),
  },
  {
    name: '200 children',
    worker: fixture('two-hundred-children.sh'),
    leaving: fixture('two-hundred-children.sh', 'leave'),
  },
  { name: '200 deaf children', worker: fixture('two-hundred-children.sh', 'ignore-term') },
  {
    name: 'a stop',
    worker: fixture('stopped-by-sigstop.py'),
    leaving: sh('(kill -STOP $(sh -c "echo \\$PPID"); sleep 60) & echo "ready $$ $!"; exit 0'),
  },
];

/** Identities now: what must be gone later, even if its number is somebody else's by then. */
const named = (pids: readonly number[]) => pids.map((pid) => ({ pid, identity: identityOf(pid) ?? '' }));

/** Nobody of the test's is left, and nobody that the worker named. */
async function expectNobody(
  temp: TempBase,
  members: readonly { pid: number; identity: string }[],
): Promise<void> {
  expect(members.filter(({ pid, identity }) => isAliveAs(pid, identity))).toEqual([]);
  await eventually(() => temp.ledger.living().length === 0, 60_000);
}

/** Several storms at once would only show how slow a machine can get. */
const calm = escapes.filter(({ name }) => !/storm/.test(name));
const storms = escapes.filter(({ name }) => /storm/.test(name));

describe.concurrent.each(calm)('$name leaves nobody behind', leavesNobody);
describe.each(storms)('$name leaves nobody behind', leavesNobody);

function leavesNobody({ name, worker, leaving }: Escape): void {
  // All at once on a slow box, the calm ones take a while to get into position; a storm would be over by then.
  const hardSecs = /storm/.test(name) ? 5 : 20;

  test('after a reap', async ({ temp }) => {
    const job = await start(temp, worker);
    const members = named(await ready(job));
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    expect(readStatus(job.dir)).toBe('timeout');
    expect(readReason(job.dir)).toBe('reaped on request before completion');
    await expectNobody(temp, members);
  });

  test('after a timeout', async ({ temp }) => {
    const job = await start(temp, worker, { flags: ['--hard-secs', String(hardSecs)] });
    const members = named(await ready(job));
    expect(await settled(job)).toBe('timeout');
    expect(readReason(job.dir)).toBe(`hard cap ${hardSecs}s exceeded`);
    await expectNobody(temp, members);
  });

  test.skipIf(!leaving)('after a normal exit of the worker', async ({ temp }) => {
    const job = await start(temp, leaving ?? worker);
    expect(await settled(job)).toBe('done');
    await expectNobody(temp, []);
    expect(readReason(job.dir)).toBe('worker exited 0');
  });
}

describe('with no supervisor left, reap leaves nobody of', () => {
  // Without its environment and descriptors a double fork is nobody's once the supervisor that adopted it has died.
  const findable = escapes.filter(({ name }) => !/or descriptors/.test(name));

  test.for(findable)('$name', async ({ worker }, { temp }) => {
    const job = await start(temp, worker);
    const members = named(await ready(job));
    await killSupervisor(job);
    expect(await ask(temp, 'reap', job.id)).toBe('0 ""');
    await expectNobody(temp, members);
  });
});

test('the bundle alone, without its native helper, ends all that carries a mark', async ({ temp }) => {
  const home = join(temp.root, 'alone');
  mkdirSync(home);
  copyFileSync(join(repoRoot, 'dist/peer-jobs.mjs'), join(home, 'peer-jobs.mjs'));
  const cli = [commandOf('ours')[0], join(home, 'peer-jobs.mjs')] as const;
  const env = cleanEnv({ CE_PEER_JOBS_ROOT: temp.base, CE_PEER_GRACE_SECS: '0.5' });
  for (const name of ['double-fork-child.py', 'setsid-child.py']) {
    const args = ['start', '--skill', 's', '--run-id', 'r', '--', ...fixture(name)];
    const run = await runProgram([...cli, ...args], { env });
    const job = jobNamed(temp, run.stdout.toString().trim());
    const members = named(await ready(job));
    await runProgram([...cli, 'reap', job.id], { env });
    await expectNobody(temp, members);
  }
});

describe('a job started from inside a job is a job of its own:', () => {
  async function nested(temp: TempBase, side: 'ours' | 'reference'): Promise<{ outer: Job; inner: Job }> {
    const outer = await start(temp, fixture('nested-job.sh', ...commandOf(side)), { run: 'outer' });
    const id = await eventually(() => /^ready \d+ (\S+)\n/m.exec(readLog(outer.dir))?.[1], 60_000);
    return { outer, inner: jobNamed(temp, id) };
  }

  test('it survives the reaping of the outer one', async ({ temp }) => {
    const { outer, inner } = await nested(temp, 'ours');
    expect(await ask(temp, 'reap', outer.id)).toBe('0 ""');
    expect(await ask(temp, 'status', outer.id, inner.id)).toBe(
      `0 ${JSON.stringify(`${outer.id}\ttimeout\n${inner.id}\trunning\n`)}`,
    );
    expect(await ask(temp, 'reap', inner.id)).toBe('0 ""');
    expect(readStatus(inner.dir)).toBe('timeout');
    await expectNobody(temp, []);
  });

  test('it survives the reaping of an outer one whose supervisor is gone', async ({ temp }) => {
    const { outer, inner } = await nested(temp, 'ours');
    await killSupervisor(outer);
    expect(await ask(temp, 'reap', outer.id)).toBe('0 ""');
    expect(await ask(temp, 'status', inner.id)).toBe('0 "running\\n"');
    await ask(temp, 'reap', inner.id);
    await expectNobody(temp, []);
  });

  test('it survives the normal end of the outer one, and its own descendants are ended with it', async ({
    temp,
  }) => {
    const script = '"$@" start --skill s --run-id nested -- /bin/sh -c "setsid sleep 3600 & sleep 3600" > id';
    const outer = await start(temp, sh(script, ...commandOf('ours')), { run: 'outer' });
    expect(await settled(outer)).toBe('done');
    const inner = jobNamed(temp, (readJobFile(temp.scratch, 'id') ?? '').trim());
    expect(await ask(temp, 'status', inner.id)).toBe('0 "running\\n"');
    await ask(temp, 'reap', inner.id);
    await expectNobody(temp, []);
  });

  test('the inner one can be reaped without the outer one noticing', async ({ temp }) => {
    const { outer, inner } = await nested(temp, 'ours');
    expect(await ask(temp, 'reap', inner.id)).toBe('0 ""');
    expect(await ask(temp, 'status', outer.id)).toBe('0 "running\\n"');
    await ask(temp, 'reap', outer.id);
    await expectNobody(temp, []);
  });

  test.skipIf(referenceMissing())('also when the reference started it', async ({ temp }) => {
    const { outer, inner } = await nested(temp, 'reference');
    expect(await ask(temp, 'reap', outer.id)).toBe('0 ""');
    expect(await ask(temp, 'status', inner.id)).toBe('0 "running\\n"');
    expect(isAlive(Number(JSON.parse(readJobFile(inner.dir, 'pid') ?? '').supervisor_pid))).toBe(true);
    await ask(temp, 'reap', inner.id);
    expect(await settled(inner)).toBe('timeout');
    await expectNobody(temp, []);
  });
});
