import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect } from 'vitest';
import { eventsFinding, nodeFinding } from '../../runner-core/operations/doctor/machine.ts';
import { eventually } from '../support/eventually.ts';
import { ask, atRest, gone, kill, killSupervisor, pidsOf, start } from '../support/jobs.ts';
import { readStat } from '../support/proc.ts';
import { commandOf, repoRoot, sh } from '../support/programs.ts';
import { cleanEnv, runProgram } from '../support/run-cli.ts';
import { snapshotOf } from '../support/snapshot.ts';
import { type TempBase, test } from '../support/temp-base.ts';
import { onTinyDisk } from '../support/tiny-disk.ts';

interface Finding {
  readonly check: string;
  readonly verdict: 'ok' | 'note' | 'warning' | 'problem';
  readonly detail: string;
  readonly remedy: string | null;
}

const isRoot = process.geteuid?.() === 0;
if (!isRoot) process.stderr.write('skipped: a doctor on foreign owners and full disks: needs root\n');

async function examine(temp: TempBase, extra: Record<string, string> = {}) {
  const run = await temp.run('ours', ['doctor', '--json'], {
    extra: { HOME: temp.scratch, PATH: '/usr/bin:/bin', ...extra },
  });
  expect(run.stderr).toBe('');
  const { healthy, findings }: { healthy: boolean; findings: Finding[] } = JSON.parse(run.stdout.toString());
  expect(run.code).toBe(healthy ? 0 : 1);
  expect(findings.filter(({ verdict, remedy }) => /warning|problem/.test(verdict) && !remedy)).toEqual([]);
  const of = (check: string, verdict: Finding['verdict']): Finding => {
    const found = findings.find((one) => one.check === check && one.verdict === verdict);
    if (!found) throw new Error(`no ${verdict} of ${check} in\n${JSON.stringify(findings, null, 1)}`);
    return found;
  };
  return { healthy, findings, of };
}

test('doctor of a machine where all is well says so, and changes nothing', async ({ temp }) => {
  const job = await start(temp, sh('true'));
  await atRest(job);
  const before = snapshotOf(temp.base);
  const { healthy, findings, of } = await examine(temp);
  expect(healthy).toBe(true);
  // It is not in the registry: what somebody else may put there must not be recommended.
  expect(findings.filter(({ remedy }) => remedy?.includes('install -g peer-jobs'))).toEqual([]);
  expect(of('program', 'note').remedy).toContain(`ln -s ${commandOf('ours')[1]} ~/.local/bin/peer-jobs`);
  expect(of('root', 'ok').detail).toBe(
    `new jobs go to ${temp.base} (CE_PEER_JOBS_ROOT); searched: ${temp.base}`,
  );
  expect(of('node', 'ok').detail).toBe(`Node ${process.versions.node}`);
  expect(of('jobs', 'ok').detail).toBe('1 jobs in 1 runs, 0 running');
  expect(of('PATH', 'ok').detail).toBe('programs are searched in /usr/bin:/bin');
  expect(snapshotOf(temp.base)).toEqual(before);
  const text = (await temp.run('ours', ['doctor'])).stdout.toString();
  expect(text).toMatch(/✓ node +Node/);
  expect(text.trimEnd().split('\n').at(-1)).toMatch(/^Nothing is wrong/);
});

test('of a root that is not there yet makes none', async ({ temp }) => {
  expect((await examine(temp)).healthy).toBe(true);
  expect(existsSync(temp.base)).toBe(false);
});

describe('names the cure where', () => {
  test('the root is a file', async ({ temp }) => {
    writeFileSync(temp.base, '');
    const { healthy, findings } = await examine(temp);
    expect(healthy).toBe(false);
    expect(findings.find(({ detail }) => detail.includes('not a real directory'))?.remedy).toContain(
      `Remove or rename what lies at ${temp.base}`,
    );
  });

  test('the root is a link', async ({ temp }) => {
    mkdirSync(temp.at('elsewhere'), { mode: 0o700 });
    symlinkSync(temp.at('elsewhere'), temp.base);
    const { findings } = await examine(temp);
    expect(findings.find(({ detail }) => detail.includes('not a real directory'))?.remedy).toContain(
      'CE_PEER_JOBS_ROOT',
    );
  });

  test("the root is somebody's own folder", async ({ temp }) => {
    mkdirSync(temp.base);
    writeFileSync(join(temp.base, 'thesis.tex'), '');
    const { findings } = await examine(temp);
    expect(findings.find(({ detail }) => detail.includes('not peer jobs'))?.remedy).toContain(
      'an empty or a new directory of yours',
    );
  });

  test('others can enter the root', async ({ temp }) => {
    mkdirSync(temp.base);
    chmodSync(temp.base, 0o755);
    const { of, healthy } = await examine(temp);
    expect(healthy).toBe(true);
    expect(of('root', 'warning').remedy).toBe(`chmod 700 ${temp.base}`);
  });

  test('the root cannot be made', async ({ temp }) => {
    const { of } = await examine(temp, { CE_PEER_JOBS_ROOT: temp.at('no/such/place') });
    expect(of('root', 'problem').remedy).toMatch(/CE_PEER_JOBS_ROOT|mkdir -p/);
  });

  test.skipIf(!isRoot)('the root is another user’s', async ({ temp }) => {
    mkdirSync(temp.base, { mode: 0o700 });
    chownSync(temp.base, 12345, 12345);
    const { findings, healthy } = await examine(temp);
    expect(healthy).toBe(false);
    expect(findings.find(({ detail }) => detail.includes('not owned'))?.remedy).toContain(
      'CE_PEER_JOBS_ROOT',
    );
  });

  test.skipIf(!isRoot)('the disk is nearly full', async ({ temp }) => {
    await onTinyDisk(temp, '1m', async () => {
      expect((await examine(temp)).of('disk', 'warning').remedy).toContain('prune');
    });
  });

  test('a variable holds what is no number', async ({ temp }) => {
    const { of } = await examine(temp, { CE_PEER_IDLE_SECS: '30abc' });
    expect(of('environment', 'warning')).toMatchObject({
      detail: 'CE_PEER_IDLE_SECS="30abc" is not usable; 240 is in force',
      remedy: expect.stringContaining('Unset CE_PEER_IDLE_SECS'),
    });
  });

  test('a number of bytes is written as none that a job would take', async ({ temp }) => {
    const { of } = await examine(temp, { CE_PEER_LOG_MAX_BYTES: '1e3', CE_PEER_GRACE_SECS: '1e3' });
    expect(of('environment', 'warning')).toMatchObject({
      detail: 'CE_PEER_LOG_MAX_BYTES="1e3" is not usable; 10485760 is in force',
      remedy: expect.stringContaining('positive whole number'),
    });
  });

  test('only the one file of the program is there', async ({ temp }) => {
    const alone = temp.at('alone/peer-jobs.mjs');
    mkdirSync(dirname(alone));
    copyFileSync(join(repoRoot, 'dist/peer-jobs.mjs'), alone);
    const run = await runProgram([process.execPath, alone, 'doctor', '--json'], {
      env: { ...temp.env, HOME: temp.scratch },
      cwd: temp.scratch,
    });
    const { findings }: { findings: Finding[] } = JSON.parse(run.stdout.toString());
    const remedies = findings
      .filter(({ verdict }) => verdict !== 'ok')
      .map(({ detail, remedy }) => `${detail} ${remedy}`)
      .join('\n');
    expect(remedies).toContain('server.mjs does not lie beside it: no MCP server');
    expect(remedies).toContain('watch.mjs does not lie beside it: no full-screen view');
    if (process.platform === 'linux')
      expect(remedies).toContain('put koffi into a node_modules beside the program');
    const watch = await runProgram([process.execPath, alone, 'watch'], { env: temp.env, cwd: temp.scratch });
    expect(watch.code).toBe(2);
  });

  test('a client is there and not told of the server, and then is', async ({ temp }) => {
    temp.file('claude', '#!/bin/sh\n', 0o755);
    temp.file('codex', '#!/bin/sh\n', 0o755);
    const PATH = `${temp.scratch}:/usr/bin:/bin`;
    const entry = commandOf('ours').at(-1);
    const before = await examine(temp, { PATH });
    expect(before.of('client claude', 'note').remedy).toBe(
      `claude mcp add --scope user peer-jobs -- node ${entry} mcp`,
    );
    expect(before.of('client codex', 'note').remedy).toBe(`codex mcp add peer-jobs -- node ${entry} mcp`);
    temp.file(
      '.claude.json',
      JSON.stringify({ mcpServers: { 'peer-jobs': { command: 'node', args: [entry, 'mcp'] } } }),
    );
    mkdirSync(temp.at('.codex'));
    temp.file(
      '.codex/config.toml',
      `[mcp_servers.peer-jobs]\ncommand = "node"\nargs = ["${entry}", "mcp"]\n`,
    );
    const after = await examine(temp, { PATH });
    expect(after.of('client claude', 'ok').detail).toContain('.claude.json');
    expect(after.of('client codex', 'ok').detail).toContain('config.toml');
  });

  test('a client names a program that is gone', async ({ temp }) => {
    temp.file(
      '.claude.json',
      JSON.stringify({
        mcpServers: { 'peer-jobs': { command: 'node', args: ['/gone/peer-jobs/server.mjs'] } },
      }),
    );
    const { of, healthy } = await examine(temp);
    expect(healthy).toBe(false);
    expect(of('client claude', 'problem').remedy).toContain('Remove that entry, then: claude mcp add');
  });

  test('a supervisor and its worker were killed', async ({ temp }) => {
    const job = await start(temp, sh('exec sleep 60'));
    const worker = await killSupervisor(job);
    await kill(worker);
    const { of } = await examine(temp);
    expect(of('dead job', 'problem').remedy).toContain(`peer-jobs status ${job.dir}`);
    expect(await ask(temp, 'status', job.dir)).toBe('0 "died-without-result\\n"');
    expect((await examine(temp)).healthy).toBe(true);
  });

  test('a supervisor was killed and its worker lives', async ({ temp }) => {
    const job = await start(temp, sh('exec sleep 60'));
    await killSupervisor(job);
    const { of } = await examine(temp);
    expect(of('unsupervised job', 'problem').remedy).toContain('gives it a new one');
    expect(await ask(temp, 'status', job.dir)).toBe('0 "running\\n"');
    expect((await examine(temp)).healthy).toBe(true);
    const { worker_pid } = pidsOf(job);
    await ask(temp, 'reap', job.id);
    await gone([worker_pid]);
  });

  test('a status is torn', async ({ temp }) => {
    const job = await start(temp, sh('true'));
    await atRest(job);
    writeFileSync(join(job.dir, 'status'), '');
    const { of } = await examine(temp);
    expect(of('unreadable job', 'problem').remedy).toContain(`peer-jobs reap ${job.dir}`);
    await ask(temp, 'reap', job.dir);
    expect((await temp.run('ours', ['remove', job.dir])).code).toBe(0);
    expect((await examine(temp)).healthy).toBe(true);
  });

  test('jobs never started, are old, or were half removed', async ({ temp }) => {
    await temp.run('ours', ['start', '--skill', 's', '--run-id', 'r', '--', '/no/such/program']);
    const job = await start(temp, sh('true'));
    await atRest(job);
    for (const name of readdirSync(job.dir)) utimesSync(join(job.dir, name), 1_600_000_000, 1_600_000_000);
    const { of } = await examine(temp);
    expect(of('never started', 'note').remedy).toContain('prune --state never-started');
    expect(of('old jobs', 'note').remedy).toBe('peer-jobs prune --older-than 7d');
    const pruned = await temp.run('ours', ['prune', '--older-than', '7d']);
    expect(pruned.stdout.toString()).toContain('removed 1 job');
  });

  test('Node is too old', () => {
    expect(nodeFinding('18.20.4')).toMatchObject({
      verdict: 'problem',
      remedy: expect.stringContaining('Install Node 20'),
    });
    expect(nodeFinding('20.0.0').verdict).toBe('ok');
  });
});

test('without a setting, both default places are told of', async ({ temp }) => {
  const env = cleanEnv({ HOME: temp.scratch, TMPDIR: temp.scratch });
  delete env.CE_PEER_JOBS_ROOT;
  const run = await temp.run('ours', ['doctor', '--json'], { env });
  const { findings }: { findings: Finding[] } = JSON.parse(run.stdout.toString());
  const name = `compound-engineering-${process.geteuid?.()}`;
  expect(findings.find(({ check }) => check === 'root')?.detail).toContain(
    `searched: /tmp/${name}, ${temp.scratch}/${name}`,
  );
  expect(existsSync(join(temp.scratch, name))).toBe(false);
});

test('of a job whose supervisor is stopped says that no window holds, and how it goes on', async ({
  temp,
}) => {
  const job = await start(temp, sh('exec sleep 60'));
  const { supervisor_pid } = pidsOf(job);
  process.kill(supervisor_pid, 'SIGSTOP');
  await eventually(() => readStat(supervisor_pid)?.state === 'T');
  const found = (await examine(temp)).of('stopped supervisor', 'problem');
  expect(found.detail).toContain(`${job.id} runs and its supervisor is stopped`);
  expect(found.remedy).toContain(`kill -CONT ${supervisor_pid} `);
  await ask(temp, 'reap', job.id);
  await gone([supervisor_pid]);
});

test.skipIf(process.platform !== 'linux')(
  'of few inotify instances warns before there are none',
  async ({ temp }) => {
    const { findings } = await examine(temp);
    const events = findings.find(({ check }) => check === 'events');
    expect(events?.detail).toMatch(/\d+ of this user's \d+ inotify instances are in use/);
    expect(eventsFinding({ used: 100, limit: 128 }).verdict).toBe('ok');
    expect(eventsFinding({ used: 120, limit: 128 })).toMatchObject({
      verdict: 'warning',
      remedy: expect.stringContaining('sysctl fs.inotify.max_user_instances=1024'),
    });
  },
);
