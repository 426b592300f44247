import { deepEqual, equal, match, ok, throws } from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Win32, win32 } from '../../../runner-core/platform/win32-api.ts';
import { isPrivateDir, ownsPath } from '../../../runner-core/platform/win32-security.ts';
import { ensurePrivateTree } from '../../../runner-core/store/private-dir.ts';
import { js, settled } from './jobs.ts';
import { scenario } from './scenario.ts';

/** A file of another user's: only who may chown can make one, which is the system below Wine. */
const foreignFile = process.env.PEER_JOBS_FOREIGN_FILE;
const foreignDir = process.env.PEER_JOBS_FOREIGN_DIR;
const noForeign = foreignFile
  ? undefined
  : 'needs a file of another user, which only the host of Wine can make';

scenario(
  'a file of somebody else in place of the result is refused at once, and nothing is printed',
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
  'a start aborts, and touches nothing behind it, at a foreign directory at <base>/',
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

const DACL = 0x4;
const SDDL_REVISION = 1;

/** Puts a list on a directory that lets everybody in. */
function letEverybodyIn(path: string): void {
  const api = win32();
  const out = Buffer.alloc(8);
  const sddl = 'D:(A;OICI;FA;;;WD)';
  ok(api.ConvertStringSecurityDescriptorToSecurityDescriptorW(sddl, SDDL_REVISION, out, null) !== 0);
  ok(api.SetFileSecurityW(path, DACL, out.readBigInt64LE()) !== 0);
  api.LocalFree(out.readBigInt64LE());
}

scenario('a base that is empty, or plainly ours, and too open is made private', async (temp) => {
  mkdirSync(temp.base);
  for (let round = 0; round < 2; round += 1) {
    letEverybodyIn(temp.base);
    equal(isPrivateDir(temp.base), false);
    await settled(await temp.start(js('')));
    ok(isPrivateDir(temp.base));
  }
});

scenario("a base that holds somebody's files is refused and left as it is", async (temp) => {
  mkdirSync(temp.base);
  letEverybodyIn(temp.base);
  writeFileSync(join(temp.base, 'letter.txt'), '');
  const { code, stderr } = await temp.cli(['start', '--skill', 's', '--run-id', 'r', '--', ...js('')]);
  equal(code, 1);
  match(stderr, /holds files that are not peer jobs/);
  deepEqual([readdirSync(temp.base), isPrivateDir(temp.base)], [['letter.txt'], false]);
});

/** Replaces one raw call as long as `act` takes, which nothing else can come between: it must not wait. */
function withCall<K extends keyof Win32, T>(name: K, call: Win32[K], act: () => T): T {
  const api = win32();
  const real = api[name];
  api[name] = call;
  try {
    return act();
  } finally {
    api[name] = real;
  }
}

scenario('a base whose list does not take is refused', async (temp) => {
  mkdirSync(temp.base);
  letEverybodyIn(temp.base);
  // As on a share or a disk without lists, where the call says that all went well.
  withCall(
    'SetFileSecurityW',
    () => 1,
    () =>
      throws(
        () => ensurePrivateTree(temp.base, join(temp.base, 's'), { defaultBase: false }),
        /cannot be made private to the current user/,
      ),
  );
  deepEqual(readdirSync(temp.base), []);
});

scenario('a new directory whose list does not take is taken back', async (temp) => {
  const made = (path: string): number => {
    mkdirSync(path);
    letEverybodyIn(path);
    return 1;
  };
  withCall('CreateDirectoryW', made, () =>
    throws(
      () => ensurePrivateTree(temp.base, join(temp.base, 's'), { defaultBase: false }),
      /this file system keeps no access lists/,
    ),
  );
  ok(!existsSync(temp.base));
});

for (const [what, path] of [
  ['a directory', '.'],
  ['a device', 'NUL'],
  ['a pipe', `\\\\.\\pipe\\peer-jobs-test-${process.pid}`],
] as const) {
  scenario(`${what} in place of the result is refused at once, and nothing is printed`, async (temp) => {
    // At the other end of the pipe is somebody who says something.
    const server = createServer((socket) => socket.on('error', () => undefined).write('x'));
    if (what === 'a pipe') await new Promise<void>((listening) => server.listen(path, listening));
    const { code, stdout } = await temp.cli(['result', '--path', path]);
    server.close();
    // Whether a device is there at all is a question of how it is asked.
    ok(code === 4 || (code === 3 && what !== 'a directory'), `${path}: ${code}`);
    equal(stdout.length, 0);
  });
}
