import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPrivateDir, ownsPath } from '../../../runner-core/platform/win32-security.ts';
import { eventually } from '../../support/eventually.ts';
import { js, settled } from './jobs.ts';
import { scenario } from './scenario.ts';
import { CLI, runNode, textOf } from './temp-base.ts';

/** A file of another user's: only who may chown can make one, which is the system below Wine. */
const foreignFile = process.env.PEER_JOBS_FOREIGN_FILE;
const foreignDir = process.env.PEER_JOBS_FOREIGN_DIR;
const noForeign = foreignFile
  ? undefined
  : 'needs a file of another user, which only the host of Wine can make';

scenario(
  "a file of another user's is refused, and nothing of it printed",
  async (temp) => {
    const path = foreignFile ?? '';
    ok(readFileSync(path, 'utf8').includes('secret'));
    equal(ownsPath(path), false);
    const { code, stdout, stderr } = await temp.cli(['result', '--path', path]);
    deepEqual([code, stdout.length], [4, 0]);
    match(stderr, /not owned by the current user/);
  },
  noForeign,
);

scenario(
  "a base of another user's is refused, and not entered",
  async (temp) => {
    const { code, stderr } = await temp.cli(['start', '--skill', 's', '--run-id', 'r', '--', ...js('')], {
      CE_PEER_JOBS_ROOT: foreignDir,
    });
    equal(code, 1);
    match(stderr, /not owned by the current user/);
    deepEqual(readdirSync(foreignDir ?? ''), []);
  },
  noForeign,
);

/** Under Wine everything is open to read; Windows itself makes folders of a user private enough. */
function makeOpenDir(path: string): void {
  mkdirSync(path);
  if (!process.env.PEER_JOBS_WINE)
    execFileSync('icacls', [path, '/grant', '*S-1-1-0:(OI)(CI)R'], { stdio: 'ignore' });
}

scenario('a base that is empty and too open is made private', async (temp) => {
  makeOpenDir(temp.base);
  equal(isPrivateDir(temp.base), false);
  const job = await temp.start(js(''));
  await settled(job);
  ok(isPrivateDir(temp.base));
});

scenario("a base that holds somebody's files is refused, and left as it is", async (temp) => {
  makeOpenDir(temp.base);
  writeFileSync(join(temp.base, 'letter.txt'), '');
  const { code, stderr } = await temp.cli(['start', '--skill', 's', '--run-id', 'r', '--', ...js('')]);
  equal(code, 1);
  match(stderr, /holds files that are not peer jobs/);
  deepEqual([readdirSync(temp.base), isPrivateDir(temp.base)], [['letter.txt'], false]);
});

scenario('directories, devices and pipes are refused as results, at once', async (temp) => {
  mkdirSync(temp.at('folder'));
  for (const path of [temp.at('folder'), 'NUL', '\\\\.\\pipe\\no-such-pipe']) {
    const { code, stdout } = await temp.cli(['result', '--path', path]);
    ok(code === 4 || code === 3, `${path}: ${code}`);
    equal(stdout.length, 0);
  }
});

scenario(
  'a status that is replaced again and again while others read it is never unreadable',
  async (temp) => {
    const job = await temp.start(js(''));
    equal(await settled(job), 'done');
    // Readers that keep the file open: a rename over it fails then, and is tried again.
    const reader = runNode(
      [
        '-e',
        "const fs=require('fs');const t=Date.now()+3000;while(Date.now()<t){const f=fs.openSync(process.argv[1],'r');fs.readSync(f,Buffer.alloc(9));fs.closeSync(f);Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0,2)}",
        join(job.dir, 'status'),
      ],
      temp.env,
      temp.scratch,
    );
    const { replaceFile } = await import('../../../runner-core/store/owned-file.ts');
    const { recordedState } = await import('../../../runner-core/store/job-dir.ts');
    const until = performance.now() + 2500;
    let rounds = 0;
    while (performance.now() < until) {
      replaceFile(join(job.dir, 'status'), 'done\n', { durable: false });
      equal(recordedState(job.dir), 'done');
      rounds += 1;
    }
    ok(rounds > 5);
    equal((await reader).code, 0);
  },
);

scenario('without koffi nothing is created, and it is said what is missing', async (temp) => {
  const alone = temp.at('alone');
  mkdirSync(alone);
  writeFileSync(join(alone, 'peer-jobs.mjs'), readFileSync(CLI));
  const bare = join(alone, 'peer-jobs.mjs');
  const started = await runNode(
    [bare, 'start', '--skill', 's', '--run-id', 'r', '--', ...js('')],
    temp.env,
    temp.scratch,
  );
  equal(started.code, 1);
  match(started.stderr, /^peer-jobs: .*koffi.*nothing was started.*\n$/);
  ok(!readdirSync(temp.root).includes('base'));
  const help = await runNode([bare, '--version'], temp.env, temp.scratch);
  equal(help.code, 0);
  // Nor is anything said of a job that cannot be looked at.
  const job = await temp.start(js(''));
  await eventually(() => textOf(job.dir, 'status'));
  const asked = await runNode([bare, 'status', job.id], temp.env, temp.scratch);
  equal(asked.code, 1);
  match(asked.stderr, /koffi/);
});
