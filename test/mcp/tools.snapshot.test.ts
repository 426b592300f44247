import { describe, expect } from 'vitest';
import { test } from '../support/temp-base.ts';
import { Session } from './session.ts';

/** Claude Code cuts descriptions and instructions here. */
const CUT_AT_BYTES = 2048;

describe('what a model is told', () => {
  test('names, titles, descriptions, schemas and annotations are as reviewed', async ({ temp }) => {
    const session = await Session.open(temp);
    const { tools } = await session.client.listTools();
    for (const tool of tools) {
      await expect(`${JSON.stringify(tool, null, 2)}\n`).toMatchFileSnapshot(`snapshots/${tool.name}.json`);
    }
    expect(tools.map(({ name }) => name)).toEqual([
      'start_job',
      'wait_jobs',
      'job_status',
      'job_result',
      'job_log',
      'reap_job',
      'list_jobs',
    ]);
    await session.close();
  });

  test('instructions are as reviewed, and short enough not to be cut', async ({ temp }) => {
    const session = await Session.open(temp);
    const instructions = session.client.getInstructions() ?? '';
    await expect(`${instructions}\n`).toMatchFileSnapshot('snapshots/instructions.txt');
    expect(Buffer.byteLength(instructions)).toBeLessThan(CUT_AT_BYTES);
    await session.close();
  });

  test('every field of every input is described, and so is every tool, in full annotations', async ({
    temp,
  }) => {
    const session = await Session.open(temp);
    const { tools } = await session.client.listTools();
    for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
      expect(title, name).toBeTruthy();
      expect(Buffer.byteLength(description ?? ''), name).toBeGreaterThan(80);
      expect(Buffer.byteLength(description ?? ''), name).toBeLessThan(CUT_AT_BYTES);
      expect(Object.keys(annotations ?? {}).sort(), name).toEqual(
        ['destructiveHint', 'idempotentHint', 'openWorldHint', 'readOnlyHint', 'title'].sort(),
      );
      expect(inputSchema.additionalProperties, name).toBe(false);
      expect(outputSchema?.additionalProperties, name).toBe(false);
      for (const [field, schema] of Object.entries(inputSchema.properties ?? {})) {
        expect(Reflect.get(schema, 'description'), `${name}.${field}`).toBeTruthy();
      }
    }
    await session.close();
  });
});
