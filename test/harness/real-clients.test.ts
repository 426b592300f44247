import { existsSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { jobDirsBelow, readStatus } from '../support/read-job.ts';
import { type TempBase, test } from '../support/temp-base.ts';
import { claudeCodeHarness, codexHarness, type Harness, openClaudeCode, type Run } from './harness.ts';
import { type ScriptedModel, serveModel, type ToolCall, type Turn } from './scripted-model.ts';

const start = (script: string, input: Record<string, unknown> = {}): ToolCall => ({
  tool: 'start_job',
  input: { argv: ['sh', '-c', script], ...input },
});

/** Lets the client play the script to its end. */
async function play(
  harness: Harness,
  temp: TempBase,
  script: readonly Turn[],
  env?: Readonly<Record<string, string>>,
): Promise<ScriptedModel> {
  const model = await serveModel(script);
  try {
    const run = harness.run(temp, model.url, env);
    const code = await run.ended;
    expect(model.problems).toEqual([]);
    expect(code, run.output()).toBe(0);
    return model;
  } finally {
    model.close();
  }
}

function killGroup({ child }: Run): void {
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
}

for (const harness of [claudeCodeHarness, codexHarness]) {
  describe(harness.name, () => {
    test('takes one call from start to result, and has read the instructions', async ({ temp }) => {
      const model = await play(harness, temp, [
        () => [start('sleep 2; printf "the answer" > out.txt', { result_path: 'out.txt', wait_secs: 60 })],
        () => 'done',
      ]);
      expect(model.calls).toHaveLength(1);
      expect(model.turns).toHaveLength(2);
      expect(model.turns[1]?.[0]?.data).toMatchObject({ state: 'done', result_text: 'the answer' });
      expect(model.sawInstructions()).toBe(true);
    });

    test('takes one call also for a job of 150 s', async ({ temp }) => {
      const script = 'for n in 1 2 3 4 5; do echo $n; sleep 30; done; printf long > out.txt';
      const model = await play(harness, temp, [
        () => [start(script, { result_path: 'out.txt', wait_secs: 600 })],
        () => 'done',
      ]);
      expect(model.calls).toHaveLength(1);
      const shown = model.turns[1]?.[0]?.data;
      expect(shown).toMatchObject({ state: 'done', result_text: 'long' });
      expect(shown?.elapsed_secs).toBeGreaterThan(149);
    });

    test('takes five starts and one wait for a fan-out of five', async ({ temp }) => {
      const model = await play(harness, temp, [
        () =>
          [1, 2, 3, 4, 5].map((n) => start(`sleep ${n}; echo ${n} > ${n}.txt`, { result_path: `${n}.txt` })),
        (answers) => [{ tool: 'wait_jobs', input: { jobs: answers.map(({ data }) => data.job_id) } }],
        () => 'done',
      ]);
      expect(model.calls).toHaveLength(6);
      const jobs = model.turns[2]?.[0]?.data.jobs ?? [];
      expect(jobs.map(({ state, result_text }) => [state, result_text])).toEqual(
        [1, 2, 3, 4, 5].map((n) => ['done', `${n}\n`]),
      );
    });

    test('is shown what went wrong, and what a refused call should have been', async ({ temp }) => {
      const model = await play(harness, temp, [
        () => [{ tool: 'start_job', input: { argv: ['npm test'] } }],
        () => [start('echo "no such module" >&2; exit 3', { wait_secs: '60' })],
        () => 'done',
      ]);
      expect(model.turns[1]?.[0]?.text).toContain('npm test');
      expect(model.turns[2]?.[0]?.data).toMatchObject({
        state: 'failed',
        exit_code: 3,
        log_tail: 'no such module',
      });
    });

    test('learns from a refused start where it was looked, and reads what the server sees', async ({
      temp,
    }) => {
      const input = { server: 'peer-jobs', uri: 'peer-jobs://doctor' };
      const model = await play(harness, temp, [
        () => [{ tool: 'start_job', input: { argv: ['no-such-program'] } }],
        () => [{ tool: harness.resourceReader, own: true, input }],
        () => 'done',
      ]);
      expect(model.turns[1]?.[0]?.text).toContain('peer-jobs://doctor');
      expect(model.turns[2]?.[0]?.text).toContain('programs are searched in ');
    });

    test('killed with its server in the middle of a job, is followed by another that collects it', async ({
      temp,
    }) => {
      const model = await serveModel([
        () => [
          start('touch begun; while [ ! -e go ]; do sleep 0.1; done; echo kept > out.txt', {
            result_path: 'out.txt',
            label: 'survivor',
            wait_secs: 200,
          }),
        ],
      ]);
      const run = harness.run(temp, model.url);
      await eventually(() => existsSync(temp.at('begun')), 60_000);
      const [jobDir = ''] = jobDirsBelow(temp.base);
      killGroup(run);
      await run.ended;
      model.close();
      expect(readStatus(jobDir)).toBeUndefined();
      temp.file('go', '');
      await eventually(() => readStatus(jobDir) === 'done', 30_000);

      const later = await play(harness, temp, [
        () => [{ tool: 'list_jobs', input: { label: 'survivor' } }],
        ([listed]) => [
          { tool: 'wait_jobs', input: { jobs: listed?.data.jobs?.map(({ job_id }) => job_id) } },
        ],
        () => 'done',
      ]);
      expect(later.turns[2]?.[0]?.data.jobs).toMatchObject([{ state: 'done', result_text: 'kept\n' }]);
    });

    test('reads a large result in pages that it does not cut or spill', async ({ temp }) => {
      const model = await play(harness, temp, [
        () => [start('seq 1 30000 > out.txt', { result_path: 'out.txt', wait_secs: 60 })],
        ([started]) => [{ tool: 'job_result', input: { job: started?.data.job_id } }],
        () => 'done',
      ]);
      const page = model.turns[2]?.[0];
      expect(String(page?.data.text ?? page?.text).slice(0, 1000)).toMatch(/^1\n2\n3\n/);
      expect(Buffer.byteLength(String(page?.data.text))).toBe(Number(page?.data.next_offset));
    });
  });
}

describe('Claude Code on a terminal', () => {
  test('moves a call of more than two minutes to the background, and is told the result unasked', async ({
    temp,
  }) => {
    const script = 'for n in 1 2 3 4 5; do echo $n; sleep 28; done; printf long > out.txt';
    const model = await serveModel([
      () => [start(script, { result_path: 'out.txt', wait_secs: 600 })],
      () => 'I go on meanwhile',
      () => 'I have it',
    ]);
    const run = openClaudeCode(temp, model.url);
    try {
      // It takes a prompt before it has the server, and answers that without it.
      for (let asked = 0; asked < 10 && model.turns.length === 0; asked += 1) {
        await run.type();
        await eventually(() => model.turns.length > 0, 8000).catch(() => undefined);
      }
      await eventually(() => model.notifications.length > 0, 220_000);
      expect(model.turns[1]?.[0]?.text).toContain('moved to the background');
      expect(model.notifications[0]).toContain('"state":"done"');
      expect(model.notifications[0]).toContain('"result_text":"long"');
      expect(model.calls).toHaveLength(1);
      expect(model.problems).toEqual([]);
    } finally {
      killGroup(run);
      await run.ended;
      model.close();
    }
  });
});

describe('the environment of a worker', () => {
  test('under Claude Code holds no mark and no token of its session, and what the user exported', async ({
    temp,
  }) => {
    const model = await play(
      claudeCodeHarness,
      temp,
      [() => [start('env | sed "s/=.*//"', { wait_secs: 60 })], () => 'done'],
      { USER_EXPORT: '1' },
    );
    const names = String(model.turns[1]?.[0]?.data.log_tail).split('\n');
    expect(names).toContain('USER_EXPORT');
    expect(names.filter((name) => /^CLAUDECODE$|SESSION|TOKEN|MESSAGING|ENTRYPOINT/.test(name))).toEqual([]);
  });
});
