/** What a supervisor that waits in advance does until its spec is there. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { repoRoot } from '../support/programs.ts';
import { listDirectory } from '../support/read-job.ts';
import { type TempBase, test } from '../support/temp-base.ts';

const ASKED = '\n';
const NO_SPEC = '{}';
const program = readdirSync(join(repoRoot, 'dist')).find((name) => /^supervisor-.*\.cjs$/.test(name)) ?? '';

/** A supervisor of our own, and every name that appears in its folder for temporary files. */
function waiting(temp: TempBase, tmpdir = temp.scratch): { child: ChildProcess; seen: Set<string> } {
  const seen = new Set<string>();
  const watcher = watch(temp.scratch, (_event, name) => name !== null && seen.add(name));
  const child = spawn(process.execPath, [join(repoRoot, 'dist', program), '__supervise'], {
    cwd: '/',
    env: { ...temp.env, TMPDIR: tmpdir },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.once('exit', () => watcher.close());
  temp.ledger.register(child.pid ?? 0, 'a supervisor that waits');
  return { child, seen };
}

async function answerTo(child: ChildProcess): Promise<string> {
  let answer = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  await once(child, 'close');
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

test('where it cannot rehearse it waits all the same', async ({ temp }) => {
  const { child } = waiting(temp, temp.at('missing'));
  child.stdin?.write(ASKED);
  child.stdin?.end(NO_SPEC);
  expect(await answerTo(child)).toContain('the spec is none');
});
