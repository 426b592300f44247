import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ask, atRest, BRISK, jobNamed, pidsOf, settled, start } from '../support/jobs.ts';
import { isAlive } from '../support/proc.ts';
import { commandOf, sh } from '../support/programs.ts';
import { jobDirsBelow, listDirectory, modeOf, readLog, readStatus } from '../support/read-job.ts';
import { type TempBase, test } from '../support/temp-base.ts';

async function run(temp: TempBase, ...args: string[]) {
  const { code, stdout, stderr } = await temp.run('ours', args, { extra: BRISK });
  return { code, stdout: stdout.toString(), stderr };
}

/** Makes everything in a job directory so many hours old. */
function age(jobDir: string, hours: number): void {
  const at = Date.now() / 1000 - hours * 3600;
  for (const name of listDirectory(jobDir)) utimesSync(join(jobDir, name), at, at);
}

describe('show', () => {
  test('tells everything of a job that went wrong', async ({ temp }) => {
    const job = await start(temp, sh('echo said; exit 7'), {
      flags: ['--label', 'one', '--key', 'k', '--result-path', 'r.txt'],
    });
    await settled(job);
    const { code, stdout } = await run(temp, 'show', job.id);
    expect(code).toBe(0);
    for (const text of [
      'one',
      'failed',
      'worker exited 7',
      'exit code 7',
      's / r',
      temp.scratch,
      'absent',
      'said',
      job.dir,
    ])
      expect(stdout).toContain(text);
    const shown = JSON.parse((await run(temp, 'show', '--json', job.id)).stdout);
    expect(shown).toMatchObject({
      job: { state: 'failed', exit_code: 7 },
      argv: ['/bin/sh', '-c', 'echo said; exit 7', 'sh'],
      key: 'k',
      worker: { pid: pidsOf(job).worker_pid, state: 'gone' },
      log_tail: 'said',
    });
  });

  test('tells the processes of a running job', async ({ temp }) => {
    const job = await start(temp, sh('exec sleep 60'));
    const shown = JSON.parse((await run(temp, 'show', '--json', job.id)).stdout);
    expect(shown).toMatchObject({
      supervisor: { pid: pidsOf(job).supervisor_pid, state: 'alive' },
      worker: { pid: pidsOf(job).worker_pid, state: 'alive' },
    });
    await ask(temp, 'reap', job.id);
  });
});

describe('log', () => {
  test('gives the last lines, all of it, or what lies beyond an offset', async ({ temp }) => {
    const job = await start(temp, sh('seq 1 20000'));
    await settled(job);
    const log = readLog(job.dir);
    expect(await ask(temp, 'log', '--tail', '2', job.id)).toBe('0 "19999\\n20000\\n"');
    expect(await ask(temp, 'log', '--tail', '0', job.id)).toBe('0 ""');
    expect((await run(temp, 'log', '--all', job.id)).stdout).toBe(log);
    expect((await run(temp, 'log', '--offset', '5', job.id)).stdout).toBe(log.slice(5));
    expect((await run(temp, 'log', '--offset', '5', '--max-bytes', '3', job.id)).stdout).toBe(
      log.slice(5, 8),
    );
    expect((await run(temp, 'log', '--tail', '99999', job.id)).stdout).toBe(log);
    expect((await run(temp, 'log', '--tail', 'x', job.id)).code).toBe(2);
  });

  test('follows a job to its end, and gives the bytes as they are in a pipe', async ({ temp }) => {
    const job = await start(
      temp,
      sh(`printf '\\033[31mone\\n'; while [ ! -e go ]; do sleep 0.05; done; printf 'two\\r\\000\\377'`),
    );
    const following = run(temp, 'log', '--follow', job.id);
    temp.file('go', '');
    expect(await following).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await temp.run('ours', ['log', '--follow', job.id]);
    expect([...stdout]).toEqual([...Buffer.from('\u001b[31mone\ntwo\r\0'), 0xff]);
  });

  test('stops following when nobody reads any more', async ({ temp }) => {
    const job = await start(temp, sh('while :; do echo line; sleep 0.02; done'));
    const words = [...commandOf('ours'), 'log', '--follow', '--all', job.id]
      .map((word) => `'${word}'`)
      .join(' ');
    const out = execFileSync('/bin/sh', ['-c', `${words} | head -n 3`], { env: temp.env, encoding: 'utf8' });
    expect(out).toBe('line\nline\nline\n');
    await ask(temp, 'reap', job.id);
  });
});

test('result of a job that declared none says where to look', async ({ temp }) => {
  const job = await start(temp, sh('echo said'));
  await settled(job);
  const { code, stdout, stderr } = await run(temp, 'result', job.id);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toBe(
    `peer-jobs: job declared no result path; nothing to emit. What it printed: peer-jobs log ${job.id}\n`,
  );
});

describe('remove', () => {
  test('takes a settled job away, and nothing else', async ({ temp }) => {
    const job = await start(temp, sh('echo result > out.txt'), { flags: ['--result-path', 'out.txt'] });
    const other = await start(temp, sh('true'));
    await Promise.all([settled(job), settled(other)]);
    const dry = await run(temp, 'remove', '--dry-run', job.id);
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toContain('would remove 1 job');
    expect(existsSync(job.dir)).toBe(true);
    const { code, stdout } = await run(temp, 'remove', job.id);
    expect(code).toBe(0);
    expect(stdout).toMatch(/removed 1 job, \d+(\.\d)? (B|KiB)\n$/);
    expect(existsSync(job.dir)).toBe(false);
    expect(listDirectory(dirname(job.dir))).toEqual([other.id]);
    expect(readFileSync(temp.at('out.txt'), 'utf8')).toBe('result\n');
  });

  test('leaves a running job alone, also one whose record cannot be read', async ({ temp }) => {
    const job = await start(temp, sh('exec sleep 60'));
    const { worker_pid } = pidsOf(job);
    const refused = await run(temp, 'remove', job.id);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('still running; reap it first');
    writeFileSync(join(job.dir, 'status'), 'nonsense');
    const unreadable = await run(temp, 'remove', job.dir);
    expect(unreadable.code).toBe(1);
    expect(unreadable.stderr).toContain('reap it first');
    expect(isAlive(worker_pid)).toBe(true);
    expect(existsSync(join(job.dir, 'meta.json'))).toBe(true);
    await ask(temp, 'reap', job.dir);
    await eventually(() => !isAlive(worker_pid));
  });

  test('leaves alone what may be starting, and follows no link', async ({ temp }) => {
    const made = await start(temp, sh('true'));
    await settled(made);
    const starting = join(dirname(made.dir), '20260101T000000Z-00000001');
    mkdirSync(starting, { mode: 0o700 });
    writeFileSync(join(starting, 'meta.json'), JSON.stringify({ job_id: basename(starting) }));
    expect((await run(temp, 'remove', starting)).stderr).toContain('starting this very moment');
    age(starting, 1);
    expect((await run(temp, 'remove', starting)).code).toBe(0);
    const elsewhere = temp.at('20260101T000000Z-00000002');
    renameSync(made.dir, elsewhere);
    symlinkSync(elsewhere, made.dir);
    expect((await run(temp, 'remove', made.dir)).stderr).toContain('not a real directory');
    expect(listDirectory(elsewhere)).toContain('meta.json');
  });
});

describe('prune', () => {
  test('takes what is old and settled, and tells what it would take', async ({ temp }) => {
    const [old, young, running] = [
      await start(temp, sh('true'), { flags: ['--label', 'old'] }),
      await start(temp, sh('exit 1'), { flags: ['--label', 'young'] }),
      await start(temp, sh('exec sleep 60')),
    ];
    await Promise.all([atRest(old), atRest(young)]);
    age(old.dir, 24 * 8);
    const dry = await run(temp, 'prune', '--dry-run');
    expect(dry.stdout).toMatch(new RegExp(`^${old.id}\tdone\t.*\told\nwould remove 1 job, .*; 2 kept\n$`));
    expect(jobDirsBelow(temp.root)).toHaveLength(3);
    expect((await run(temp, 'prune')).stdout).toContain('removed 1 job');
    expect((await run(temp, 'prune', '--older-than', '0s', '--state', 'done')).stdout).toContain(
      'removed 0 jobs',
    );
    expect((await run(temp, 'prune', '--older-than', '0s')).stdout).toContain('removed 1 job');
    expect(jobDirsBelow(temp.root)).toEqual([running.dir]);
    expect(readStatus(running.dir)).toBeUndefined();
    await ask(temp, 'reap', running.id);
  });

  test('takes a start that failed its preflight at once, and keeps one that may be on its way', async ({
    temp,
  }) => {
    const failed = await run(temp, 'start', '--skill', 's', '--run-id', 'r', '--', 'no-such-program');
    expect(failed.code).toBe(1);
    const [dir = expect.fail('no job directory')] = jobDirsBelow(temp.root);
    const starting = join(dirname(dir), '20260101T000000Z-00000001');
    mkdirSync(starting, { mode: 0o700 });
    writeFileSync(join(starting, 'meta.json'), JSON.stringify({ job_id: basename(starting) }));
    const dry = await run(temp, 'prune', '--older-than', '0s', '--dry-run');
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toMatch(
      new RegExp(`^${basename(dir)}\tnever-started\t-\t.*\nwould remove 1 job, .*; 1 kept\n$`),
    );
    expect(await run(temp, 'prune', '--older-than', '0s')).toMatchObject({ code: 0, stderr: '' });
    expect(jobDirsBelow(temp.root)).toEqual([starting]);
  });

  test('leaves no empty folder of a skill or a run, and the base itself alone', async ({ temp }) => {
    const jobs = [await start(temp, sh('true')), await start(temp, sh('true'))];
    await Promise.all(jobs.map((job) => settled(job)));
    expect((await run(temp, 'remove', jobs[0]?.id ?? '')).code).toBe(0);
    expect(listDirectory(temp.base)).toEqual(['s']);
    expect((await run(temp, 'prune', '--older-than', '0s')).code).toBe(0);
    expect(listDirectory(temp.base)).toEqual([]);
    expect(existsSync(temp.base)).toBe(true);
  });

  test.for(['7', 'x', '-1d', ''])('an age like %j is a usage error', async (text, { temp }) => {
    expect((await run(temp, 'prune', '--older-than', text)).code).toBe(2);
  });
});

describe('a job that never started', () => {
  test('has no time, and its reason everywhere', async ({ temp }) => {
    await run(temp, 'start', '--skill', 's', '--run-id', 'r', '--label', 'l', '--', 'no-such-program');
    const [dir = expect.fail('no job directory')] = jobDirsBelow(temp.root);
    const why = 'preflight failed: worker "no-such-program" was not found on PATH';
    expect((await run(temp, 'list')).stdout).toMatch(/ never-started {2}- +l /);
    expect((await run(temp, 'report')).stdout).toContain(`l  never-started: ${why}`);
    expect((await run(temp, 'report', '--html', '-')).stdout).toContain(why.replaceAll('"', '&quot;'));
    expect((await run(temp, 'show', basename(dir))).stdout).toContain(why);
    // The reference has one reason for all of them, and its callers read this row.
    expect((await run(temp, 'wait', '--deadline-secs', '0', basename(dir))).stdout).toMatch(
      /never-started\t\d+s\tnever started; no result\nall settled\n$/,
    );
  });
});

describe('report', () => {
  test('tells how each job ended, with the last lines of those that went wrong', async ({ temp }) => {
    const good = await start(temp, sh('echo fine'), { flags: ['--label', 'good'] });
    const bad = await start(temp, sh('echo why it failed; exit 1'), { flags: ['--label', 'bad'] });
    await Promise.all([settled(good), settled(bad)]);
    const { code, stdout } = await run(temp, 'report', '--run-id', 'r');
    expect(code).toBe(0);
    expect(stdout).toContain('✓ 1 done  ✗ 1 failed');
    expect(stdout).toMatch(/bad {2}failed after \d+s: worker exited 1\n {4}why it failed/);
    expect(stdout).not.toContain('fine');
    const json = JSON.parse((await run(temp, 'report', '--json', good.id)).stdout);
    expect(json.jobs).toMatchObject([{ label: 'good', log_tail: 'fine', hard_secs: 1230 }]);
  });

  test('writes a page for its owner alone', async ({ temp }) => {
    const job = await start(temp, sh('echo "<script>"'));
    await settled(job);
    const { code, stdout } = await run(temp, 'report', '--html', 'page.html');
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${temp.at('page.html')}\n` });
    expect(modeOf(temp.at('page.html'))).toBe('0600');
    expect(readFileSync(temp.at('page.html'), 'utf8')).toContain('&lt;script>');
    expect((await run(temp, 'report', '--html', '-')).stdout).toMatch(/^<!doctype html>\n/);
    expect((await run(temp, 'report', '--html', 'no/such/folder.html')).code).toBe(1);
  });
});

describe('completion', () => {
  const shells = ['bash', 'zsh', 'fish'] as const;
  const has = (program: string): boolean =>
    spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  const missing = shells.filter((shell) => !has(shell));
  if (missing.length > 0)
    process.stderr.write(`skipped: completion in ${missing.join(', ')}: not on this machine\n`);

  async function script(temp: TempBase, shell: string): Promise<string> {
    const { code, stdout } = await run(temp, 'completion', shell);
    expect(code).toBe(0);
    // The command itself, under the name that the scripts call.
    temp.file('peer-jobs', `#!/bin/sh\nexec ${commandOf('ours').join(' ')} "$@"\n`, 0o755);
    return temp.file(`completion.${shell}`, stdout);
  }
  const within = (temp: TempBase) => ({
    ...temp.env,
    PATH: `${temp.scratch}:${process.env.PATH}`,
    HOME: temp.scratch,
  });

  test.skipIf(!has('bash'))('bash completes commands, flags, values and jobs', async ({ temp }) => {
    const job = await start(temp, sh('true'));
    await settled(job);
    const path = await script(temp, 'bash');
    const complete = (...words: string[]): string[] => {
      const line = `. '${path}'; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _peer_jobs; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const out = execFileSync('bash', ['--norc', '-c', line], { env: within(temp), encoding: 'utf8' });
      return out.split('\n').filter(Boolean);
    };
    expect(complete('peer-jobs', 'pr')).toEqual(['prune']);
    expect(complete('peer-jobs', 'list', '--st')).toEqual(['--state']);
    expect(complete('peer-jobs', 'list', '--state', 'd')).toEqual(['done', 'died-without-result']);
    expect(complete('peer-jobs', 'log', '2')).toEqual([job.id]);
    expect(complete('peer-jobs', 'completion', 'z')).toEqual(['zsh']);
  });

  test.skipIf(!has('fish'))('fish completes commands, flags, values and jobs', async ({ temp }) => {
    const job = await start(temp, sh('true'));
    await settled(job);
    const path = await script(temp, 'fish');
    const complete = (line: string): string[] =>
      execFileSync('fish', ['--no-config', '-c', `source '${path}'; complete -C '${line}'`], {
        env: within(temp),
        encoding: 'utf8',
      })
        .split('\n')
        .filter(Boolean)
        .map((text) => text.split('\t')[0] ?? '');
    expect(complete('peer-jobs pr')).toEqual(['prune']);
    expect(complete('peer-jobs list --sta')).toEqual(['--state']);
    expect(complete('peer-jobs list --state d')).toEqual(
      expect.arrayContaining(['done', 'died-without-result']),
    );
    expect(complete('peer-jobs log ')).toEqual([job.id]);
  });

  test.skipIf(!has('zsh'))('zsh takes the script, and knows every command in it', async ({ temp }) => {
    const path = await script(temp, 'zsh');
    const line = `autoload -U compinit; compinit -u -D; source '${path}'; print -r -- $_comps[peer-jobs]`;
    const out = execFileSync('zsh', ['-f', '-c', line], { env: within(temp), encoding: 'utf8' });
    expect(out.trim()).toBe('_peer_jobs');
    expect(spawnSync('zsh', ['-n', path]).status).toBe(0);
  });

  test('an unknown shell is a usage error', async ({ temp }) => {
    expect((await run(temp, 'completion', 'tcsh')).code).toBe(2);
    expect((await run(temp, 'completion')).code).toBe(2);
  });
});

describe('help and manual', () => {
  test('are found where people look for them', async ({ temp }) => {
    expect(await run(temp, 'help', 'start')).toEqual(await run(temp, 'start', '--help'));
    expect(await run(temp, 'help')).toEqual(await run(temp, '--help'));
    expect((await run(temp, 'help', 'strat')).code).toBe(2);
    expect(await run(temp, '-v')).toEqual(await run(temp, '--version'));
  });

  test('say what start cannot do without', async ({ temp }) => {
    const { stdout } = await run(temp, 'start', '--help');
    expect(stdout).toMatch(/^usage: peer-jobs start --skill NAME --run-id NAME \[FLAGS\] -- ARGV…\n/);
    expect(stdout).toMatch(/--skill NAME +Required\./);
    expect(stdout).toMatch(/--run-id NAME +Required\./);
    expect(stdout).toMatch(/--label NAME +A name/);
  });

  test('promise of start and wait what these print, and no more', async ({ temp }) => {
    const flags = ['--skill', 's', '--run-id', 'r', '--wait-secs', '30'];
    const { stdout } = await run(temp, 'start', ...flags, '--', 'echo', 'said');
    const job = jobNamed(temp, stdout.trim());
    expect(stdout).toBe(`${job.id}\n`);
    expect((await run(temp, 'start', '--help')).stdout).toContain('prints its id');
    const json = JSON.parse((await run(temp, 'start', ...flags, '--json', '--', 'echo', 'said')).stdout);
    expect(json).toMatchObject({ state: 'done', log_tail: 'said' });
    expect((await run(temp, 'wait', job.id)).stdout).toBe('done\n');
    const { stdout: help } = await run(temp, 'wait', '--help');
    expect(help).toContain('one word for one job');
    expect(help).not.toMatch(/its result|of its log/);
  });

  test('name every command and every flag, and no tool of the server', async ({ temp }) => {
    const { stdout: overview } = await run(temp, '--help');
    const { stdout: manual } = await run(temp, 'man');
    const names = [...overview.matchAll(/^ {2}([a-z]+) {2}/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'mcp');
    expect(names.length).toBeGreaterThan(12);
    for (const name of names) {
      const { code, stdout } = await run(temp, name, '--help');
      expect(code).toBe(0);
      for (const [, flag = ''] of stdout.matchAll(/^ {2}(--[a-z-]+)/gm)) {
        expect(manual).toContain(`.B ${flag.replaceAll('-', '\\-')}`);
      }
      expect(stdout + manual).not.toMatch(
        /\b(start_job|job_status|wait_jobs|job_result|reap_job|list_jobs|job_log)\b/,
      );
    }
  });

  const mandoc = spawnSync('mandoc', ['-T', 'lint'], { input: '' }).error === undefined;
  if (!mandoc) process.stderr.write('skipped: the manual page under mandoc: not on this machine\n');
  test.skipIf(!mandoc)(
    'the manual page is one that mandoc has nothing serious to say of',
    async ({ temp }) => {
      const { stdout } = await run(temp, 'man');
      const { stdout: said, status } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning'], {
        input: stdout,
        encoding: 'utf8',
      });
      expect({
        said: said.replace(/.*missing date.*\n/g, ''),
        status: status === 0 || said.includes('missing date'),
      }).toEqual({ said: '', status: true });
    },
  );
});

test('a job that was started elsewhere is found by the name that start gave', async ({ temp }) => {
  const call = await temp.run('ours', ['start', '--skill', 's', '--run-id', 'r', '--', 'true']);
  const job = jobNamed(temp, call.stdout.toString().trim());
  await settled(job);
  expect((await run(temp, '__jobs')).stdout).toBe(`${job.id}\tdone\n`);
});
