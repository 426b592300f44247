import { existsSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { readStatus } from '../support/read-job.ts';
import { test } from '../support/temp-base.ts';
import { type Message, RawServer } from './raw-server.ts';

/** The time that a server may take to be gone after its client is: on a slow or busy machine, as much as its start says. */
const budgetMs = ({ readyMs }: RawServer): number => Math.max(2000, 8 * readyMs);

async function goneWithin(
  server: RawServer,
  leave: () => void,
): Promise<{ code: number | null; ms: number }> {
  const startedMs = performance.now();
  leave();
  const { code } = await server.exited;
  return { code, ms: performance.now() - startedMs };
}

const departures: readonly [string, (server: RawServer) => void][] = [
  ['its stdin is closed', (server) => server.child.stdin.end()],
  [
    'all its pipes are closed',
    ({ child }) => [child.stdin, child.stdout, child.stderr].forEach((end) => void end.destroy()),
  ],
  ['it gets SIGTERM', (server) => void server.child.kill('SIGTERM')],
  ['it gets SIGINT', (server) => void server.child.kill('SIGINT')],
  ['it gets SIGHUP', (server) => void server.child.kill('SIGHUP')],
  [
    'it gets all of them at once',
    (server) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) server.child.kill(signal);
      server.child.stdin.end();
    },
  ],
];

describe('with a wait in flight, the server ends at once with 0 and the job goes on', () => {
  for (const [when, leave] of departures) {
    test(`when ${when}`, async ({ temp }) => {
      const server = new RawServer(temp);
      await server.initialize();
      const jobDir = await server.start('while [ ! -e go ]; do sleep 0.05; done');
      server.call('wait_jobs', { jobs: [jobDir], max_secs: 40 }, 1);
      await server.answer(server.request('ping'));
      const { code, ms } = await goneWithin(server, () => leave(server));
      expect(code).toBe(0);
      expect(ms).toBeLessThan(budgetMs(server));
      expect(readStatus(jobDir)).toBeUndefined();
      expect(server.stderr).toBe('');
      temp.file('go', '');
      await eventually(() => readStatus(jobDir) === 'done');
    });
  }

  test('when its stdout is closed, as soon as it has something to say', async ({ temp }) => {
    const server = new RawServer(temp);
    await server.initialize();
    const jobDir = await server.start('while [ ! -e go ]; do sleep 0.05; done');
    server.child.stdout.destroy();
    const { code, ms } = await goneWithin(server, () => void server.request('ping'));
    expect(code).toBe(0);
    expect(ms).toBeLessThan(budgetMs(server));
    temp.file('go', '');
    await eventually(() => readStatus(jobDir) === 'done');
  });

  test('when the client stops reading and then leaves', async ({ temp }) => {
    const server = new RawServer(temp);
    await server.initialize();
    server.child.stdout.pause();
    // Far more than a pipe holds.
    for (let count = 0; count < 60; count += 1) server.request('tools/list');
    await eventually(() => server.child.stdin.writableLength === 0);
    await eventually(() => server.child.stdout.readableLength > 0);
    const { code, ms } = await goneWithin(server, () => server.child.stdin.end());
    expect(code).toBe(0);
    expect(ms).toBeLessThan(budgetMs(server));
  });

  test('when the client leaves a backlog behind that would take it longer', async ({ temp }) => {
    const server = new RawServer(temp);
    await server.initialize();
    const jobDir = await server.start('seq 1 200000; touch said; while [ ! -e go ]; do sleep 0.05; done');
    await eventually(() => existsSync(temp.at('said')));
    server.child.stdout.pause();
    for (let count = 0; count < 1000; count += 1) server.call('job_log', { job: jobDir, max_bytes: 40_000 });
    await eventually(() => server.child.stdout.readableLength > 0);
    const { code, ms } = await goneWithin(server, () => server.child.stdin.end());
    expect(code).toBe(0);
    expect(ms).toBeLessThan(budgetMs(server));
    temp.file('go', '');
    await eventually(() => readStatus(jobDir) === 'done');
  });

  test('what came in whole before the end is answered', async ({ temp }) => {
    const server = new RawServer(temp);
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    };
    const ids = [server.request('initialize', params), server.request('tools/list'), server.request('ping')];
    server.child.stdin.end();
    await server.exited;
    for (const id of ids) expect(await server.answer(id)).toMatchObject({ id });
  });

  test('when the client is gone before it said a word', async ({ temp }) => {
    const server = new RawServer(temp);
    const { code } = await goneWithin(server, () => server.child.stdin.end());
    expect(code).toBe(0);
  });

  test('a start that is under way is let through', async ({ temp }) => {
    const server = new RawServer(temp);
    await server.initialize();
    server.call('start_job', { argv: ['sh', '-c', 'echo begun'], label: 'late' });
    const { code } = await goneWithin(server, () => server.child.stdin.end());
    expect(code).toBe(0);
    const later = new RawServer(temp);
    await later.initialize();
    await eventually(async () => {
      const { result } = await later.answer(later.call('list_jobs', { label: 'late' }));
      return /"state":"done"/.test(JSON.stringify(result));
    });
    later.child.stdin.end();
    await later.exited;
  });
});

describe('bad input', () => {
  test('lines that are no messages, unknown methods and huge arguments leave the server well', async ({
    temp,
  }) => {
    const server = new RawServer(temp);
    await server.initialize();
    for (const line of [
      '{',
      'hello',
      '[]',
      '{"jsonrpc":"1.0","id":1}',
      '\u0000\u0001',
      '""',
      'null',
      '{"id":{}}',
      '',
    ]) {
      server.write(`${line}\n`);
    }
    server.write(Buffer.from([0xff, 0xfe, 0x0a]).toString('latin1'));
    const unknown = await server.answer(server.request('no/such/method'));
    expect(unknown.error?.code).toBe(-32601);
    const discover = await server.answer(server.request('server/discover'));
    expect(discover.error?.code).toBe(-32601);
    server.notify('notifications/no-such-thing');

    const huge = await server.answer(
      server.call('start_job', { argv: ['true'], label: 'x'.repeat(10_000_000) }),
    );
    expect(JSON.stringify(huge.result)).toContain('invalid label');
    expect(JSON.stringify(huge.result).length).toBeLessThan(1000);
    const beyond = await server.answer(server.call('start_job', { argv: ['true', 'x'.repeat(12_000_000)] }));
    expect(JSON.stringify(beyond.result)).toContain('too long to be recorded');
    // What was sent is not sent back at its length.
    for (const [tool, args] of [
      ['start_job', { argv: 'y'.repeat(10_000_000) }],
      [
        'start_job',
        { argv: ['true'], ...Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`k${n}`, 1])) },
      ],
      ['job_log', { job: 'j'.repeat(10_000_000) }],
      ['job_log', { job: `/${'j'.repeat(10_000_000)}` }],
      ['job_result', { path: `/${'p'.repeat(10_000_000)}` }],
      ['wait_jobs', { jobs: ['j'.repeat(10_000_000)] }],
      ['wait_jobs', { jobs: ['20200101T000000Z-00000000'], skill: 's'.repeat(10_000_000) }],
      ['list_jobs', { cursor: 'c'.repeat(10_000_000) }],
    ] as const) {
      const answer = await server.answer(server.call(tool, args));
      expect(JSON.stringify(answer).length, tool).toBeLessThan(3000);
    }
    const ok = await server.answer(server.call('start_job', { argv: ['true'], wait_secs: 30 }));
    expect(JSON.stringify(ok.result)).toContain('"state":"done"');

    expect(server.strays).toEqual([]);
    server.child.stdin.end();
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  test('a request that is none is refused under its id, so that nobody waits for an answer', async ({
    temp,
  }) => {
    const server = new RawServer(temp);
    await server.initialize();
    const ping = { jsonrpc: '2.0', method: 'ping' };
    const call = { jsonrpc: '2.0', method: 'tools/call' };
    const refused: readonly [string | number, object][] = [
      ['null params', { ...call, params: null }],
      ['a list for params', { ...call, params: [] }],
      ['null for _meta', { ...call, params: { name: 'list_jobs', _meta: null } }],
      ['a null token', { ...call, params: { name: 'list_jobs', _meta: { progressToken: null } } }],
      ['an object for a token', { ...call, params: { name: 'list_jobs', _meta: { progressToken: {} } } }],
      ['a number for a method', { ...ping, method: 5 }],
      ['another version', { ...ping, jsonrpc: '1.0' }],
      ['one key more', { ...ping, extra: 1 }],
      [1.5, ping],
    ];
    for (const [id, request] of refused) server.write(`${JSON.stringify({ ...request, id })}\n`);
    server.write(`${JSON.stringify([ping, { ...ping, id: 'in a batch' }, 5])}\n`);
    const answered = (id: string | number): Promise<Message> =>
      eventually(() => server.messages.find((message) => message.id === id));
    for (const [id] of refused)
      expect((await answered(id)).error, String(id)).toMatchObject({
        code: -32600,
        message: expect.stringMatching(/^not a request: /),
      });
    expect((await answered('in a batch')).error?.message).toMatch(/^no batches: /);
    expect(server.messages).toHaveLength(refused.length + 2);

    const unnamed = await server.answer(server.request('resources/read'));
    expect(unnamed.error).toEqual({
      code: -32602,
      message: expect.stringMatching(/^params\.uri: [^[\]{}]+$/),
    });
    expect(server.strays).toEqual([]);
    server.child.stdin.end();
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  test('a message in many small pieces, and many messages in one, are all answered', async ({ temp }) => {
    const server = new RawServer(temp);
    await server.initialize();
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 'slow', method: 'ping' });
    for (const character of `${ping}\r\n`) server.write(character);
    server.write(
      [1, 2, 3]
        .map((id) => `${JSON.stringify({ jsonrpc: '2.0', id: `fast-${id}`, method: 'ping' })}\n`)
        .join(''),
    );
    await eventually(() =>
      ['slow', 'fast-1', 'fast-2', 'fast-3'].every((id) => server.messages.some((m) => m.id === id)),
    );
    server.child.stdin.end();
    await server.exited;
  });
});
