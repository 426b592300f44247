import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { openFilesOf } from '../support/proc.ts';
import { test } from '../support/temp-base.ts';
import { type Message, RawServer } from './raw-server.ts';
import { Session } from './session.ts';

describe('progress', () => {
  test('comes with the given token, grows, says how things stand, and ends before the answer', async ({
    temp,
  }) => {
    const server = new RawServer(temp);
    await server.initialize();
    const id = server.call(
      'start_job',
      {
        argv: ['sh', '-c', 'echo half way; while [ ! -e go ]; do sleep 0.05; done'],
        label: 'build',
        wait_secs: 30,
      },
      77,
    );
    const told = (): Message[] =>
      server.messages.filter((message) => message.method === 'notifications/progress');
    await eventually(() => told().length >= 2);
    temp.file('go', '');
    await server.answer(id);
    server.child.stdin.end();
    await server.exited;
    const at = server.messages.findIndex((message) => message.id === id);
    const progress = told();
    expect(server.messages.slice(at + 1).filter((message) => message.method !== undefined)).toEqual([]);
    expect(progress.every((message) => message.params?.progressToken === 77)).toBe(true);
    const values = progress.map((message) => Number(message.params?.progress));
    expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
    expect(String(progress.at(-1)?.params?.message)).toMatch(/^build running \d+ s: half way$/);
  });

  test('is not sent to a client that gave no token', async ({ temp }) => {
    const server = new RawServer(temp);
    await server.initialize();
    await server.answer(server.call('start_job', { argv: ['sh', '-c', 'sleep 1.5'], wait_secs: 30 }));
    expect(server.messages.filter((message) => message.method !== undefined)).toEqual([]);
    server.child.stdin.end();
    await server.exited;
  });

  test('of several jobs counts the settled ones', async ({ temp }) => {
    const session = await Session.open(temp);
    const quick = await session.start('sleep 0.3');
    const slow = await session.start('while [ ! -e go ]; do sleep 0.05; done', { label: 'slow' });
    const messages: string[] = [];
    const waiting = session.call(
      'wait_jobs',
      { jobs: [quick.job_id, slow.job_id], max_secs: 30 },
      { onprogress: ({ message }) => messages.push(String(message)) },
    );
    await eventually(() => messages.at(-1)?.startsWith('1 of 2'));
    temp.file('go', '');
    await waiting;
    expect(messages.at(-1)).toMatch(/^1 of 2 settled; slow running \d+ s$/);
    await session.close();
  });
});

describe('cancelling a wait', () => {
  test('frees everything, gets no answer, and touches no job', async ({ temp }) => {
    const server = new RawServer(temp);
    await server.initialize();
    const jobDir = await server.start('sleep 60');
    // Watches of an earlier wait are gone again, and the supervisor for the next start is there.
    await server.answer(server.call('wait_jobs', { jobs: [jobDir], max_secs: 1 }));
    const before = openFilesOf(server.pid).size;
    const ids = Array.from({ length: 20 }, () => server.call('wait_jobs', { jobs: [jobDir], max_secs: 40 }));
    await server.answer(server.request('ping'));
    for (const requestId of ids) server.notify('notifications/cancelled', { requestId });
    await server.answer(server.request('ping'));
    await eventually(() => openFilesOf(server.pid).size <= before);
    const status = await server.answer(server.call('job_status', { jobs: [jobDir] }));
    expect(JSON.stringify(status.result)).toContain('"state":"running"');
    expect(server.messages.filter((message) => ids.includes(Number(message.id)))).toEqual([]);
    await server.answer(server.call('reap_job', { jobs: [jobDir] }));
    server.child.stdin.end();
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  test('cancelling a start that waits leaves the job running', async ({ temp }) => {
    const server = new RawServer(temp);
    await server.initialize();
    const id = server.call('start_job', { argv: ['sleep', '60'], wait_secs: 40, label: 'left' });
    const found = async (): Promise<string | undefined> => {
      const listed = await server.answer(server.call('list_jobs', { label: 'left', state: 'running' }));
      return /"job_id":"([^"]+)"/.exec(JSON.stringify(listed.result))?.[1];
    };
    const job = await eventually(found);
    server.notify('notifications/cancelled', { requestId: id });
    await server.answer(server.request('ping'));
    expect(await found()).toBe(job);
    await server.answer(server.call('reap_job', { jobs: [job] }));
    server.child.stdin.end();
    await server.exited;
  });
});
