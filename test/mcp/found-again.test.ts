import { mkdirSync } from 'node:fs';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { test } from '../support/temp-base.ts';
import { type Data, Session } from './session.ts';

const idsOf = ({ jobs }: Data): string[] => (jobs ?? []).map((row) => row.job_id);

describe('list_jobs', () => {
  test('finds the jobs of another server by label, run, skill, state and folder, newest first', async ({
    temp,
  }) => {
    mkdirSync(temp.at('inner'));
    const first = await Session.open(temp);
    const quick = await first.start('true', { label: 'lint', wait_secs: 30 });
    const failed = await first.start('exit 1', { label: 'test', run_id: 'r1', wait_secs: 30 });
    const running = await first.start('sleep 60', { label: 'test', skill: 'review', cwd: 'inner' });
    await first.close();

    const later = await Session.open(temp);
    const find = async (args: Record<string, unknown>) => idsOf((await later.call('list_jobs', args)).data);
    // Ids of one second are in no particular order.
    expect((await find({})).sort()).toEqual([quick, failed, running].map((job) => job.job_id).sort());
    expect((await find({ label: 'test' })).sort()).toEqual([failed, running].map((job) => job.job_id).sort());
    expect(await find({ run_id: 'r1' })).toEqual([failed.job_id]);
    expect(await find({ skill: 'review' })).toEqual([running.job_id]);
    expect(await find({ state: 'running' })).toEqual([running.job_id]);
    expect(await find({ folder: 'inner' })).toEqual([running.job_id]);
    expect(await find({ folder: '.' })).toHaveLength(3);
    expect(await find({ folder: 'inne' })).toEqual([]);
    const { data } = await later.call('list_jobs', { state: 'running' });
    expect(data.next).toContain(`wait_jobs with jobs ["${running.job_id}"]`);
    await later.call('reap_job', { jobs: [running.job_id] });
    await later.close();
  });

  test('gives a client no longer a page than it shows whole, unless it asks for one', async ({ temp }) => {
    const session = await Session.open(temp, { name: 'codex-mcp-client' });
    // Refused starts leave their record: jobs that cost nothing.
    for (let at = 0; at < 30; at += 1) {
      await session.client.callTool({ name: 'start_job', arguments: { argv: ['/no/such/program'] } });
    }
    const { data } = await session.call('list_jobs', {});
    expect(JSON.stringify(data).length).toBeLessThan(12_000);
    expect(data.more).toBe(true);
    const rest = await session.call('list_jobs', { cursor: data.next_cursor, limit: 40 });
    expect(rest.data.more).toBe(false);
    expect(new Set([...idsOf(data), ...idsOf(rest.data)]).size).toBe(30);
    await session.close();
  });

  test('goes on where the last page ended, and gives every job once', async ({ temp }) => {
    const session = await Session.open(temp);
    const started = await Promise.all(Array.from({ length: 7 }, () => session.start('true')));
    await session.wait(
      started.map((job) => job.job_id),
      { max_secs: 30 },
    );
    const found: string[] = [];
    let cursor: unknown;
    do {
      const { data } = await session.call('list_jobs', { limit: 3, cursor });
      found.push(...idsOf(data));
      cursor = data.next_cursor;
    } while (cursor !== undefined);
    expect(found).toEqual(
      started
        .map((job) => job.job_id)
        .sort()
        .reverse(),
    );
    await session.close();
  });
});

describe('resources', () => {
  test('are listed as far as they exist, and read', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('echo said; echo written > out.txt', {
      result_path: 'out.txt',
      wait_secs: 30,
    });
    const failed = await session.start('exit 1', { wait_secs: 30 });
    const { resources } = await session.client.listResources();
    expect(resources.map(({ uri }) => uri).sort()).toEqual(
      [
        'peer-jobs://doctor',
        `peer-job://${job.job_id}/log`,
        `peer-job://${job.job_id}/result`,
        `peer-job://${job.job_id}/outcome`,
        `peer-job://${failed.job_id}/log`,
        `peer-job://${failed.job_id}/outcome`,
      ].sort(),
    );
    const read = async (file: string) =>
      (await session.client.readResource({ uri: `peer-job://${job.job_id}/${file}` })).contents[0];
    expect(await read('log')).toMatchObject({ text: 'said\n', mimeType: 'text/plain' });
    expect(await read('result')).toMatchObject({ text: 'written\n' });
    expect(await read('outcome')).toMatchObject({
      mimeType: 'application/json',
      text: expect.stringContaining('"done"'),
    });
    const { resourceTemplates } = await session.client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'peer-job://{job_id}/log',
      'peer-job://{job_id}/result',
      'peer-job://{job_id}/outcome',
    ]);
    await session.close();
  });

  test('that are binary come as a blob', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('printf "\\377\\000" > out.bin', {
      result_path: 'out.bin',
      wait_secs: 30,
    });
    const { contents } = await session.client.readResource({ uri: `peer-job://${job.job_id}/result` });
    expect(contents[0]).toMatchObject({ blob: '/wA=', mimeType: 'application/octet-stream' });
    await session.close();
  });

  test('that do not exist are told with the reason', async ({ temp }) => {
    const session = await Session.open(temp);
    const running = await session.start('sleep 60');
    const uris = [
      [`peer-job://${running.job_id}/outcome`, /has not settled/],
      [`peer-job://${running.job_id}/result`, /still running/],
      [`peer-job://${running.job_id}/meta.json`, /no such resource/],
      ['peer-job://20200101T000000Z-00000000/log', /job not found/],
      ['peer-job://../../etc/passwd', /no such resource/],
      ['file:///etc/passwd', /no such resource/],
    ] as const;
    for (const [uri, message] of uris)
      await expect(session.client.readResource({ uri })).rejects.toThrow(message);
    await session.call('reap_job', { jobs: [running.job_id] });
    await session.close();
  });

  test('ids are completed', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('true', { wait_secs: 30 });
    const complete = async (value: string) =>
      (
        await session.client.complete({
          ref: { type: 'ref/resource', uri: 'peer-job://{job_id}/log' },
          argument: { name: 'job_id', value },
        })
      ).completion.values;
    expect(await complete(job.job_id.slice(0, 9))).toEqual([job.job_id]);
    expect(await complete('')).toEqual([job.job_id]);
    expect(await complete('1999')).toEqual([]);
    await session.close();
  });

  test('tell their subscribers once when the job settles, and nobody else', async ({ temp }) => {
    const session = await Session.open(temp);
    const updated: string[] = [];
    session.client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      updated.push(params.uri);
    });
    const job = await session.start('while [ ! -e go ]; do sleep 0.05; done');
    const uri = (file: string) => ({ uri: `peer-job://${job.job_id}/${file}` });
    await session.client.subscribeResource(uri('outcome'));
    await session.client.subscribeResource(uri('outcome'));
    await session.client.subscribeResource(uri('log'));
    await session.client.unsubscribeResource(uri('log'));
    temp.file('go', '');
    await eventually(() => updated.length > 0);
    await session.wait([job.job_id], { max_secs: 30 });
    await session.client.ping();
    expect(updated).toEqual([uri('outcome').uri]);
    await expect(session.client.subscribeResource({ uri: 'peer-job://nope/log' })).rejects.toThrow(
      /no such job/,
    );
    await session.close();
  });
});
