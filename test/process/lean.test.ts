/** What a call does not load: counts and names rather than times, which a slow or busy machine does not change. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { kill, pidsOf, settled, start } from '../support/jobs.ts';
import { commandOf, repoRoot } from '../support/programs.ts';
import { cleanEnv, runProgram } from '../support/run-cli.ts';
import { test } from '../support/temp-base.ts';

/** A property that every schema of zod's has. */
const SCHEMA = '~standard';
const KIB = 1024;

const dist = (name: string): string => readFileSync(join(repoRoot, 'dist', name), 'latin1');
const supervisor = readdirSync(join(repoRoot, 'dist')).find((name) => name.startsWith('supervisor-')) ?? '';

test('the command has little in front of what it rarely needs, and no schema', () => {
  const whole = dist('peer-jobs.mjs');
  const front = whole.slice(0, whole.search(/^\/\*runner-core\//m));
  expect(whole.includes(SCHEMA)).toBe(true);
  expect(front.includes(SCHEMA), 'something that `lean.ts` needs imports a schema').toBe(false);
  expect(front.length).toBeGreaterThan(10 * KIB);
  expect(front.length).toBeLessThan(128 * KIB);
});

test('a supervisor has no schema', () => {
  expect(dist(supervisor).includes(SCHEMA)).toBe(false);
  expect(dist(supervisor).length).toBeLessThan(100 * KIB);
});

describe.skipIf(process.platform !== 'linux')('of the modules of Node', () => {
  /** Those that a call has loaded when it ends. */
  async function loadedBy(root: string, base: string, args: readonly string[]): Promise<string[]> {
    const list = join(root, 'loaded.json');
    const hook = join(root, 'hook.cjs');
    const write = `require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify(process.moduleLoadList))`;
    writeFileSync(hook, `process.on('exit', () => ${write});`);
    const [node, entry = ''] = commandOf('ours');
    const env = cleanEnv({ CE_PEER_JOBS_ROOT: base });
    const run = await runProgram([node, '--require', hook, entry, ...args], { env, cwd: root });
    expect(run.stderr).toBe('');
    return JSON.parse(readFileSync(list, 'utf8'));
  }

  test('status and wait load none that starts, talks or counts', async ({ temp }) => {
    const job = await start(temp, ['sleep', '600']);
    for (const args of [
      ['status', job.id],
      ['wait', '--max-secs', '0', job.id],
    ]) {
      const loaded = await loadedBy(temp.root, temp.base, args);
      expect(loaded).toContain('NativeModule fs');
      for (const name of ['child_process', 'crypto', 'net', 'stream'])
        expect(loaded).not.toContain(`NativeModule ${name}`);
    }
    await kill(pidsOf(job).worker_pid);
    await settled(job);
  });

  test('a supervisor has made no thread besides those that Node itself has', async ({ temp }) => {
    const job = await start(temp, ['sleep', '600']);
    const { supervisor_pid: pid } = pidsOf(job);
    const threads = readdirSync(`/proc/${pid}/task`);
    await kill(pidsOf(job).worker_pid);
    await settled(job);
    // The main one, four of V8's, one for its delayed tasks, one for signals to the inspector. libuv's pool would be four more.
    expect(threads.length).toBeLessThanOrEqual(8);
  });
});
