/** What a supervisor that waits in advance does until its spec is there. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { fixture, repoRoot } from '../support/programs.ts';
import { listDirectory } from '../support/read-job.ts';
import { type TempBase, test } from '../support/temp-base.ts';

const ASKED = '\n';
const NO_SPEC = '{}';
const program = readdirSync(join(repoRoot, 'dist')).find((name) => /^supervisor-.*\.cjs$/.test(name)) ?? '';

interface Waiting {
  readonly child: ChildProcess;
  /** Every name that appears in its folder for temporary files. */
  readonly seen: ReadonlySet<string>;
  /** What it has said on stderr, where `spoiling` says what. */
  readonly said: () => string;
}

/** A supervisor of our own. `spoiling`: what spoils-calls.cjs is told. */
function waiting(temp: TempBase, spoiling: Readonly<Record<string, string>> = {}): Waiting {
  const seen = new Set<string>();
  const watcher = watch(temp.scratch, (_event, name) => name !== null && seen.add(name));
  const argv = [join(repoRoot, 'dist', program), '__supervise'];
  const child = spawn(process.execPath, ['--require', fixture('spoils-calls.cjs')[1] ?? '', ...argv], {
    cwd: '/',
    env: { ...temp.env, TMPDIR: temp.scratch, ...spoiling },
    stdio: 'pipe',
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  // One that has died has no answer.
  child.stdin?.on('error', () => undefined);
  child.once('exit', () => watcher.close());
  temp.ledger.register(child.pid ?? 0, 'a supervisor that waits');
  return { child, seen, said: () => said };
}

async function answerTo(child: ChildProcess): Promise<string> {
  let answer = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  // One that died before it was asked says nothing any more.
  if (child.exitCode === null) await once(child, 'close');
  return answer;
}

test('asked to rehearse, it goes through a job of which nothing is left, and is then as ready as before', async ({
  temp,
}) => {
  const { child, seen } = waiting(temp);
  child.stdin?.write(ASKED);
  await eventually(() => seen.size === 1 && listDirectory(temp.scratch).length === 0);
  expect([...seen].join()).toMatch(/^peer-jobs-rehearsal-\w+$/);
  child.stdin?.end(NO_SPEC);
  expect(await answerTo(child)).toBe('{"ok":false,"problem":"the spec is none"}\n');
});

test('having rehearsed, it still ends when it is told to', async ({ temp }) => {
  const { child, seen } = waiting(temp);
  child.stdin?.write(ASKED);
  await eventually(() => seen.size === 1 && listDirectory(temp.scratch).length === 0);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([null, 'SIGTERM']);
});

test('a spec that is there already does not wait for a rehearsal', async ({ temp }) => {
  const { child, seen } = waiting(temp);
  child.stdin?.end(ASKED + NO_SPEC);
  expect(await answerTo(child)).toContain('the spec is none');
  expect([...seen]).toEqual([]);
});

for (const [what, call] of [
  ['make its folder', 'mkdtempSync'],
  ['remove it', 'rmSync'],
] as const) {
  test(`where it cannot ${what}, it waits for its spec all the same`, async ({ temp }) => {
    const { child, said } = waiting(temp, { SPOILT: call });
    child.stdin?.write(ASKED);
    await eventually(() => said() !== '', 20_000);
    child.stdin?.end(NO_SPEC);
    expect(await answerTo(child)).toBe('{"ok":false,"problem":"the spec is none"}\n');
    expect(said()).toBe(`${call}\n`);
  });
}

test('a rehearsal does not wait for the disk', async ({ temp }) => {
  const { child, seen, said } = waiting(temp, { SPOILT: 'fsyncSync' });
  child.stdin?.write(ASKED);
  await eventually(() => seen.size === 1 && listDirectory(temp.scratch).length === 0, 20_000);
  child.stdin?.end(NO_SPEC);
  expect(await answerTo(child)).toContain('the spec is none');
  expect(said()).toBe('');
});

test('a rehearsal whose record the disk refuses is over, and its supervisor ends when it is told to', async ({
  temp,
}) => {
  const { child, seen, said } = waiting(temp, { SPOILT: 'linkSync,renameSync', SPOILT_AT: '/status' });
  child.stdin?.write(ASKED);
  await eventually(() => seen.size === 1 && listDirectory(temp.scratch).length === 0, 90_000);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([null, 'SIGTERM']);
  expect(said()).toBe('linkSync\nrenameSync\n');
});

test('a rehearsal whose program hangs is ended soon', async ({ temp }) => {
  const { child, seen } = waiting(temp, { HANGING: 'sleep' });
  child.stdin?.write(ASKED);
  await eventually(() => seen.size === 1 && listDirectory(temp.scratch).length === 0, 60_000);
  child.stdin?.end(NO_SPEC);
  expect(await answerTo(child)).toContain('the spec is none');
});
