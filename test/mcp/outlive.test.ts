import { spawn } from 'node:child_process';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { commandLineOf, descendantsOf, hasProc, readStat } from '../support/proc.ts';
import { readPids, readStatus } from '../support/read-job.ts';
import { type TempBase, test } from '../support/temp-base.ts';
import { RawServer } from './raw-server.ts';
import { Session, serverFile } from './session.ts';

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

/** Every way in which a harness, a terminal or a container runtime may end a server and what it thinks belongs to it. */
const ends: readonly [string, (server: RawServer) => void][] = [
  ['alone', (server) => kill(server.pid)],
  ['with its process group', (server) => kill(-server.pid)],
  [
    'with its session',
    (server) => {
      const session = readStat(server.pid)?.session;
      for (const pid of [server.pid, ...descendantsOf(server.pid)]) {
        if (readStat(pid)?.session === session) kill(pid);
      }
    },
  ],
  [
    'with its whole tree by parent pid',
    (server) => {
      for (const pid of descendantsOf(server.pid).reverse()) kill(pid);
      kill(server.pid);
    },
  ],
];

/** A server that leads a group and a session of its own, as Codex starts it. */
function ownGroup(temp: TempBase): RawServer {
  return new RawServer(temp, { detached: true });
}

describe('a job outlives a server that is killed', () => {
  for (const [how, end] of ends) {
    test(`${how}: it ends done, and a later server collects it`, async ({ temp }) => {
      const server = ownGroup(temp);
      await server.initialize();
      const jobDir = await server.start('echo before; while [ ! -e go ]; do sleep 0.05; done; echo after');
      const pids = await eventually(() => readPids(jobDir));
      temp.ledger.registerJob(jobDir);
      server.call('wait_jobs', { jobs: [jobDir], max_secs: 40 });
      await server.answer(server.request('ping'));
      end(server);
      expect((await server.exited).signal).toBe('SIGKILL');
      temp.file('go', '');
      await eventually(() => readStatus(jobDir) === 'done');
      const later = await Session.open(temp);
      const [row] = await later.wait([jobDir]);
      expect(row).toMatchObject({ state: 'done', log_tail: 'before\nafter' });
      await later.close();
      expect(pids.supervisor_pid).toBeGreaterThan(0);
    });
  }

  test('and its supervisor too: the next server adopts the worker and waits for it', async ({ temp }) => {
    const server = ownGroup(temp);
    await server.initialize();
    const jobDir = await server.start('while [ ! -e go ]; do sleep 0.05; done; echo made it > out.txt');
    const pids = await eventually(() => readPids(jobDir));
    kill(pids.supervisor_pid);
    kill(server.pid);
    await server.exited;
    const later = await Session.open(temp);
    const [before] = await later.wait([jobDir], { max_secs: 1 });
    expect(before?.state).toBe('running');
    temp.file('go', '');
    const [row] = await later.wait([jobDir], { max_secs: 30 });
    // Its exit code went with the supervisor; without a declared result there is no evidence of success.
    expect(row?.state).toBe('died-without-result');
    await later.close();
  });

  test('the supervisor keeps none of the server’s pipes: a reader of them sees the end', async ({ temp }) => {
    const server = ownGroup(temp);
    await server.initialize();
    const jobDir = await server.start('while [ ! -e go ]; do sleep 0.05; done');
    const ended = new Promise((resolve) => server.child.stdout.once('close', resolve));
    kill(server.pid);
    await ended;
    expect(readStatus(jobDir)).toBeUndefined();
    temp.file('go', '');
    await eventually(() => readStatus(jobDir) === 'done');
  });

  test.skipIf(!hasProc)(
    'a server kept warm leaves no supervisor behind when it is killed',
    async ({ temp }) => {
      // A supervisor has nothing else of its server: this tells whose it is before any job does.
      const env = { PATH: `${temp.root}/none:${process.env.PATH}` };
      const server = new RawServer(temp, { detached: true, env });
      await server.initialize();
      const supervisors = (): number[] =>
        temp.ledger
          .living()
          .map(({ pid }) => pid)
          .filter((pid) => commandLineOf(pid).endsWith('__supervise'));
      await eventually(() => supervisors().length === 1);
      kill(server.pid);
      await server.exited;
      await eventually(() => supervisors().length === 0);
    },
  );
});

test('the command line serves the same', async ({ temp }) => {
  const child = spawn(
    process.execPath,
    [serverFile.replace('server.mjs', 'peer-jobs.mjs'), 'mcp', '--max-wait-secs', '5'],
    {
      env: temp.env,
      cwd: temp.scratch,
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  temp.ledger.register(child.pid ?? 0, 'peer-jobs mcp');
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
  });
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  };
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  await eventually(() => out.includes('"protocolVersion":"2025-06-18"'));
  child.stdin.end();
  await new Promise((resolve) => child.once('exit', resolve));
});
