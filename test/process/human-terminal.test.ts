import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, settled, start } from '../support/jobs.ts';
import { sh } from '../support/programs.ts';
import { readLog, readStatus } from '../support/read-job.ts';
import { test } from '../support/temp-base.ts';
import { inTerminal, terminalMissing } from '../support/terminal.ts';

const missing = terminalMissing();
if (missing) process.stderr.write(`skipped: what is shown on a terminal: ${missing}\n`);

/** Escapes that clear, colour, retitle and reorder; wide characters; a line of 5 MB. */
const HOSTILE = sh(
  `printf '\\033[31mred\\033[0m \\033[2J\\033[H \\033]0;title\\007 bell\\007 \\342\\200\\256reversed\\n日本語 한국어 漢字\\n1%%\\r50%%\\r100%%\\n'
   head -c 5000000 /dev/zero | tr '\\0' x; printf '\\nthe end\\n'`,
);

describe.skipIf(missing)('on a terminal', () => {
  test('list fits into 80 columns, with the last line of each job', async ({ temp }) => {
    const job = await start(
      temp,
      sh('echo a very long last line that cannot fit into eighty columns at all, ever'),
      {
        flags: ['--label', 'one'],
      },
    );
    const failed = await start(temp, sh('exit 3'), { flags: ['--label', 'two'] });
    await Promise.all([settled(job), settled(failed)]);
    await inTerminal(temp, { args: ['list'] }, async (terminal) => {
      const text = await terminal.shows('LEFT 0');
      const rows = text.split('\n');
      expect(rows[0]).toMatch(/^JOB +LABEL +STATE +TIME +IDLE +LAST LINE$/);
      expect(rows).toHaveLength(24);
      expect(rows.filter((row) => row.includes(job.id))).toEqual([
        expect.stringMatching(/one +done .*a very.*…$/),
      ]);
      expect(rows.filter((row) => row.includes(failed.id))).toEqual([
        expect.stringMatching(/two +failed .*worker/),
      ]);
    });
  });

  test('a log comes without anything that steers the terminal, and its long lines cut', async ({ temp }) => {
    const job = await start(temp, HOSTILE);
    await settled(job);
    await inTerminal(
      temp,
      { args: ['log', '--all', job.id], size: { columns: 100, rows: 60 } },
      async (terminal) => {
        const text = await terminal.shows('LEFT 0');
        expect(text).toContain('red ');
        expect(text).toContain('bell␇ <U+202E>reversed');
        expect(text).toContain('日本語 한국어 漢字');
        expect(text).toMatch(/^100%$/m);
        expect(text.replaceAll('\n', '')).toContain('more characters on this line; --raw shows them');
        expect(text).toMatch(/^the end$/m);
      },
    );
    await inTerminal(temp, { args: ['log', '--tail', '1', job.id] }, async (terminal) => {
      expect((await terminal.shows('LEFT 0')).split('\n')[0]).toBe('the end');
    });
  });

  test('wait shows how the jobs stand, and leaves its answer alone when it is over', async ({ temp }) => {
    const quick = await start(temp, sh('while [ ! -e go ]; do sleep 0.05; done'), {
      flags: ['--label', 'quick'],
    });
    const slow = await start(temp, sh('echo working on it; exec sleep 60'), { flags: ['--label', 'slow'] });
    await inTerminal(
      temp,
      { args: ['wait', '--any', '--max-secs', '60', quick.id, slow.id] },
      async (terminal) => {
        await terminal.shows(/slow +running +\d+s +\d+s +working on it/);
        temp.file('go', '');
        const text = await terminal.shows('LEFT 0');
        expect(text.trimEnd().split(/\s+/)).toEqual([quick.id, 'done', slow.id, 'running', 'LEFT', '0']);
      },
    );
    await ask(temp, 'reap', slow.id);
  });

  test('colours are for a terminal that wants them', async ({ temp }) => {
    const job = await start(temp, sh('exit 1'));
    await settled(job);
    const piped = await temp.run('ours', ['list'], { extra: { FORCE_COLOR: '1', CLICOLOR_FORCE: '1' } });
    expect(piped.stdout.includes('\u001b')).toBe(false);
    const coloured = async (env: Record<string, string>): Promise<boolean> => {
      let found = false;
      await inTerminal(temp, { args: ['show', job.id], env }, async (terminal) => {
        await terminal.shows('LEFT 0');
        found = terminal.escaped().includes('\u001b[31m');
      });
      return found;
    };
    expect(await coloured({})).toBe(true);
    expect(await coloured({ NO_COLOR: '1' })).toBe(false);
  });
});

describe.skipIf(missing)('watch', () => {
  test('shows jobs as they start and end, and leaves them alone when it is left', async ({ temp }) => {
    await inTerminal(temp, { args: ['watch'] }, async (terminal) => {
      await terminal.shows('No jobs yet');
      const job = await start(
        temp,
        sh('echo first words; while [ ! -e go ]; do sleep 0.05; done; echo last words'),
        {
          flags: ['--label', 'one'],
        },
      );
      await terminal.shows(/›▶ one +running .*first words/);
      temp.file('go', '');
      await settled(job);
      await terminal.shows(/›✓ one +done .*last words/);
      const going = await start(temp, sh('exec sleep 60'), { flags: ['--label', 'two'] });
      await terminal.shows('1 running');
      terminal.press('q');
      const text = await terminal.shows('LEFT 0');
      expect(text.trim()).toBe('LEFT 0');
      expect(readStatus(going.dir)).toBeUndefined();
      await ask(temp, 'reap', going.id);
    });
  });

  test('reaps the chosen job after a yes, and only then', async ({ temp }) => {
    const one = await start(temp, sh('exec sleep 60'), { flags: ['--label', 'one'] });
    const two = await start(temp, sh('exec sleep 60'), { flags: ['--label', 'two'] });
    await inTerminal(temp, { args: ['watch'] }, async (terminal) => {
      await terminal.shows('2 running');
      terminal.press('/', 'one', 'Enter');
      await terminal.shows(/showing 1: “one”/);
      terminal.press('r');
      await terminal.shows('Reap one and its whole tree? y / n');
      terminal.press('n');
      await terminal.shows('Not reaped.');
      expect(readStatus(one.dir)).toBeUndefined();
      terminal.press('r', 'y');
      await terminal.shows('Reaped one.');
      await terminal.shows(/^esc clear filter {2}↑↓ choose/m);
      expect(readStatus(one.dir)).toBe('timeout');
      expect(readStatus(two.dir)).toBeUndefined();
      terminal.press('Escape');
      expect(await terminal.shows(/^↑↓ choose/m)).toMatch(/^.{3}two /m);
      terminal.press('q');
      await terminal.shows('LEFT 0');
    });
    await ask(temp, 'reap', two.id);
  });

  test('tells the whole reason of the chosen job, and that it printed nothing', async ({ temp }) => {
    const missing = 'no-such-program-whatever-one-looks-for-it-in-all-of-the-folders-of-the-path';
    const flags = ['--skill', 's', '--run-id', 'r', '--label', 'missing'];
    expect((await temp.run('ours', ['start', ...flags, '--', missing])).code).toBe(1);
    await inTerminal(temp, { args: ['watch'] }, async (terminal) => {
      const text = await terminal.shows(/It printed nothing\./);
      expect(text).toMatch(/›. missing +never-started +- /);
      const [, pane = ''] = text.split(/── missing .*\n/);
      expect(pane.replaceAll(/\s+/g, '')).toContain(`preflightfailed:worker"${missing}"wasnotfoundonPATH`);
      terminal.press('q');
      await terminal.shows('LEFT 0');
    });
  });

  test('follows the size of the terminal, and draws no line too many at any', async ({ temp }) => {
    const job = await start(temp, HOSTILE, { flags: ['--label', 'hostile'] });
    await settled(job);
    await inTerminal(temp, { args: ['watch'], size: { columns: 80, rows: 24 } }, async (terminal) => {
      for (const size of [
        { columns: 80, rows: 24 },
        { columns: 132, rows: 43 },
        { columns: 60, rows: 12 },
      ]) {
        terminal.resize(size);
        const lines = await eventually(() => {
          const seen = terminal.lines();
          const drawn = seen[0]?.startsWith('peer-jobs') && seen[size.rows - 2]?.startsWith('↑↓ choose');
          return drawn && seen;
        }, 20_000);
        expect(lines.some((line) => line === 'the end')).toBe(true);
      }
    });
    expect(readLog(job.dir).length).toBeGreaterThan(5_000_000);
  });

  test('refuses a pipe, and says what to do instead', async ({ temp }) => {
    const run = await temp.run('ours', ['watch']);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('watch needs a terminal; for a pipe there is list');
  });
});
