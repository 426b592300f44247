import { randomBytes } from 'node:crypto';
import { describe, expect } from 'vitest';
import { test } from '../support/temp-base.ts';
import { type Answer, Session } from './session.ts';

const CLIENT_LIMIT_CHARS = 50_000;

/** What a client shows its model: the structured answer, or the text. */
function longest({ data, text }: Answer): number {
  return Math.max(JSON.stringify(data).length, JSON.stringify(text).length);
}

async function readThrough(
  session: Session,
  tool: string,
  args: Record<string, unknown>,
): Promise<{ bytes: Buffer; pages: number; longestChars: number }> {
  const parts: Buffer[] = [];
  let longestChars = 0;
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const answer: Answer = await session.call(tool, { ...args, offset });
    expect(answer.isError, answer.text).toBe(false);
    const { text, base64, next_offset, total_bytes } = answer.data;
    parts.push(base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64'));
    longestChars = Math.max(longestChars, longest(answer));
    offset = next_offset === undefined || next_offset >= (total_bytes ?? 0) ? undefined : next_offset;
  }
  return { bytes: Buffer.concat(parts), pages: parts.length, longestChars };
}

const oddText =
  'plain "quoted" \\ tab\t bell\u0007 esc\u001b[31m line\u2028para\u2029 é 漢字 😀 e\u0301 \ufeff\r\n';

describe('a result', () => {
  test('of 5 MB with every kind of character is read through, byte for byte, in pages that fit', async ({
    temp,
  }) => {
    const wanted = Buffer.alloc(5 * 1024 * 1024 - 100);
    const third = Math.floor(wanted.length / 3);
    wanted.fill(oddText, 0, third);
    randomBytes(third).copy(wanted, third);
    wanted.fill(Buffer.from('\u0001\u0002\u0003\u001b'), 2 * third);
    const source = temp.file('source.bin', wanted);
    const session = await Session.open(temp);
    const job = await session.start(`cp ${source} out.bin`, { result_path: 'out.bin', wait_secs: 60 });
    expect(job.state).toBe('done');
    const { bytes, longestChars } = await readThrough(session, 'job_result', { job: job.job_id });
    expect(bytes.equals(wanted)).toBe(true);
    expect(longestChars).toBeLessThan(CLIENT_LIMIT_CHARS);
    await session.close();
  });

  test('page bounds never cut a character, whatever the page size', async ({ temp }) => {
    const session = await Session.open(temp);
    const source = temp.file('source.txt', '€😀ä'.repeat(50));
    const job = await session.start(`cp ${source} out.txt`, { result_path: 'out.txt', wait_secs: 30 });
    for (const max_bytes of [4, 5, 7, 100]) {
      const { bytes } = await readThrough(session, 'job_result', { job: job.job_id, max_bytes });
      expect(bytes.toString('utf8')).toBe('€😀ä'.repeat(50));
      const first = await session.call('job_result', { job: job.job_id, max_bytes });
      expect(first.data.base64).toBeUndefined();
    }
    await session.close();
  });

  test('that goes on links to the whole and names the path; one that does not, does not', async ({
    temp,
  }) => {
    const session = await Session.open(temp);
    const job = await session.start('seq 1 50000 > out.txt', { result_path: 'out.txt', wait_secs: 30 });
    const page = await session.call('job_result', { job: job.job_id });
    expect(page.data).toMatchObject({ path: temp.at('out.txt'), offset: 0 });
    expect(page.content[1]).toMatchObject({ type: 'resource_link', uri: `peer-job://${job.job_id}/result` });
    const whole = await session.client.readResource({ uri: `peer-job://${job.job_id}/result` });
    expect(whole.contents[0]).toMatchObject({ mimeType: 'text/plain' });
    const last = await session.call('job_result', {
      job: job.job_id,
      offset: Number(page.data.total_bytes) - 3,
    });
    expect(last.data.text).toBe('00\n');
    expect(last.content).toHaveLength(1);
    expect(last.data.next).toBe('nothing more; that was the end.');
    await session.close();
  });

  test('of a running job, a failed job, or a job without one is told apart', async ({ temp }) => {
    const session = await Session.open(temp);
    const running = await session.start('sleep 60', { result_path: 'never.txt' });
    const failed = await session.start('exit 3', { wait_secs: 30, result_path: 'no.txt' });
    const without = await session.start('echo only a log', { wait_secs: 30 });
    expect((await session.call('job_result', { job: running.job_id })).text).toContain('still running');
    expect((await session.call('job_result', { job: failed.job_id })).text).toContain('failed');
    expect((await session.call('job_result', { job: without.job_id })).data).toMatchObject({
      text: '',
      total_bytes: 0,
    });
    await session.call('reap_job', { jobs: [running.job_id] });
    await session.close();
  });
});

describe('a log', () => {
  test('without an offset gives its end, from where earlier pages can be had', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('seq 1 20000', { wait_secs: 30 });
    const tail = await session.call('job_log', { job: job.job_id });
    expect(tail.data.text).toMatch(/\n20000\n$/);
    expect(tail.data.next_offset).toBe(tail.data.total_bytes);
    const { bytes } = await readThrough(session, 'job_log', { job: job.job_id });
    expect(bytes.toString('utf8')).toBe(Array.from({ length: 20000 }, (_, n) => `${n + 1}\n`).join(''));
    await session.close();
  });

  test('with bytes that are no text shows them visibly and gives them exactly', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('printf "a\\377b\\000c\\n"', { wait_secs: 30 });
    const { data } = await session.call('job_log', { job: job.job_id });
    expect(data.text).toBe('a\ufffdb\u2400c\n');
    expect(Buffer.from(data.base64 ?? '', 'base64')).toEqual(Buffer.from([0x61, 0xff, 0x62, 0, 0x63, 0x0a]));
    await session.close();
  });

  test('of control characters alone still gives its true end', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('head -c 100000 /dev/zero | tr "\\0" "\\001"; echo end', {
      wait_secs: 30,
    });
    const answer = await session.call('job_log', { job: job.job_id, max_bytes: 49152 });
    expect(answer.data.text?.endsWith('\u0001end\n')).toBe(true);
    expect(longest(answer)).toBeLessThan(CLIENT_LIMIT_CHARS);
    await session.close();
  });

  test('a cursor at the end waits for more output, and for the end of the job', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('echo first; while [ ! -e go ]; do sleep 0.05; done; echo second');
    const { eventually } = await import('../support/eventually.ts');
    const first = await eventually(async () => {
      const page = await session.call('job_log', { job: job.job_id });
      return page.data.text === 'first\n' && page;
    });
    const waiting = session.call('job_log', {
      job: job.job_id,
      offset: Number(first.data.next_offset),
      wait_secs: 30,
    });
    temp.file('go', '');
    const more = await waiting;
    expect(more.data.text).toBe('second\n');
    await session.wait([job.job_id], { max_secs: 30 });
    const startedMs = performance.now();
    const end = await session.call('job_log', {
      job: job.job_id,
      offset: Number(more.data.next_offset),
      wait_secs: 30,
    });
    expect(end.data).toMatchObject({ text: '', state: 'done' });
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    await session.close();
  });

  test('a cursor beyond the end is taken as the end', async ({ temp }) => {
    const session = await Session.open(temp);
    const job = await session.start('echo x', { wait_secs: 30 });
    const { data } = await session.call('job_log', { job: job.job_id, offset: 1000 });
    expect(data).toMatchObject({ text: '', offset: 2, next_offset: 2, total_bytes: 2 });
    await session.close();
  });
});

describe('under Codex, which cuts the middle out of long answers', () => {
  const LIMIT_CHARS = 12_000;

  test('pages, logs and waits are short enough by themselves, and longer only when asked for', async ({
    temp,
  }) => {
    const session = await Session.open(temp, { name: 'codex-mcp-client' });
    const script = 'seq 1 30000; seq 1 30000 > out.txt';
    const jobs = await Promise.all(
      [1, 2, 3, 4, 5].map(() => session.start(script, { result_path: 'out.txt' })),
    );
    const [job] = jobs;
    const ids = jobs.map(({ job_id }) => job_id);
    const answers = [
      await session.call('wait_jobs', { jobs: ids, max_secs: 30 }),
      await session.call('job_status', { jobs: [job?.job_id] }),
      await session.call('job_result', { job: job?.job_id }),
      await session.call('job_log', { job: job?.job_id }),
      await session.call('job_log', { job: job?.job_id, offset: 0 }),
    ];
    for (const answer of answers) expect(JSON.stringify(answer.data).length).toBeLessThan(LIMIT_CHARS);
    const asked = await session.call('job_result', { job: job?.job_id, max_bytes: 30_000 });
    expect(asked.data.text?.length).toBe(30_000);
    const log = await session.call('job_log', { job: job?.job_id });
    expect(log.data.text?.endsWith('\n30000\n')).toBe(true);
    await session.close();
  });
});
