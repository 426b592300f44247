import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { js, settled } from './jobs.ts';
import { eventually } from './patience.ts';
import { scenario } from './scenario.ts';
import { program, runNode, type TempBase } from './temp-base.ts';

/** Replaces a file so many times, in a process of its own: it waits without letting go. */
function replacer(temp: TempBase, path: string, times: number): Promise<Report> {
  return runNode([program('replaces'), path, String(times)], temp.env, temp.scratch).then(
    ({ stdout, stderr }) => {
      if (stderr !== '') throw new Error(stderr);
      return JSON.parse(stdout.toString('utf8'));
    },
  );
}

interface Report {
  readonly wrong: string[];
  readonly failed: string | null;
  readonly tookMs: number;
}

scenario(
  'a status that is replaced again and again while others read it is never unreadable',
  async (temp) => {
    const job = await temp.start(js(''));
    equal(await settled(job), 'done');
    const status = join(job.dir, 'status');
    // A reader that keeps the file open: a rename over it fails then, and is tried again.
    const read =
      "const fs=require('fs');fs.writeFileSync('reads','');while(!fs.existsSync('enough')){const f=fs.openSync(process.argv[1],'r');fs.readSync(f,Buffer.alloc(9));fs.closeSync(f);Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0,2)}";
    const reader = runNode(['-e', read, status], temp.env, temp.scratch);
    await eventually(() => readdirSync(temp.scratch).includes('reads'));
    const { wrong, failed } = await replacer(temp, status, 100);
    temp.file('enough', '');
    equal((await reader).code, 0);
    deepEqual([wrong, failed], [[], null]);
  },
);

scenario(
  'a file that somebody keeps for himself is not replaced, within a bounded time: it stays whole, and nothing beside it',
  async (temp) => {
    const path = temp.file('status', 'done\n');
    const { stdout, stderr, code } = await runNode(
      [program('holds-a-handle'), path, program('replaces'), path, '1'],
      temp.env,
      temp.scratch,
    );
    equal(`${code} ${stderr}`, '0 ');
    const { failed, tookMs }: Report = JSON.parse(stdout.toString('utf8'));
    ok(['EPERM', 'EACCES', 'EBUSY'].includes(failed ?? ''), `${failed}`);
    ok(tookMs >= 2900 && tookMs < 60_000, `took ${tookMs} ms`);
    deepEqual([readFileSync(path, 'utf8'), readdirSync(temp.scratch)], ['done\n', ['status']]);
  },
);
