import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonProblem } from '../../../runner-core/job/json-problem.ts';

const problemOf = (text: string): string | undefined => jsonProblem(Buffer.from(text));

function positionOf(problem: string | undefined): number {
  return Number(/position (\d+)/.exec(problem ?? '')?.[1] ?? Number.NaN);
}

test('a valid document has no problem, whatever it holds', () => {
  fc.assert(fc.property(fc.json(), (text) => problemOf(text) === undefined));
});

describe('the position of the problem', () => {
  test('is the end where the document just ends', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, cut) => {
        const part = text.slice(0, cut % Math.max(1, text.length));
        const problem = problemOf(part);
        if (problem !== undefined) expect(positionOf(problem)).toBe(part.length);
      }),
    );
  });

  test.each([
    ['a word', 'hello', 0],
    ['a word in a list', '[1, x]', 4],
    ['a missing comma', '{"a":1 "b":2}', 7],
    ['a comma too many', '{"a":1,}', 7],
    ['a second document', '[1] [2]', 4],
    ['a bare control character', '"a\u0001"', 2],
    ['a wrong escape', '"\\x"', 2],
    ['nothing', '', 0],
    ['deep in a long text', `[${'1,'.repeat(5000)}x,${'1,'.repeat(5000)}1]`, 10_001],
    ['a literal gone wrong', '[true, nul]', 10],
    // RFC 8259, 8.1: no document begins with one.
    ['a byte order mark', '\ufeff{}', 0],
  ])('is where it breaks: %s', (_what, text, position) => {
    expect(positionOf(problemOf(text))).toBe(position);
  });

  test('is where a broken word stands in a list, for any list', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), fc.array(fc.nat()), (before, after) => {
        const head = JSON.stringify(before).slice(0, -1) + (before.length > 0 ? ',' : '');
        const tail = after.map((number) => `,${number}`).join('');
        expect(positionOf(problemOf(`${head}@${tail}]`))).toBe(head.length);
      }),
    );
  });
});

test('bytes that are not UTF-8 are told as such', () => {
  expect(jsonProblem(Buffer.from([0x22, 0xff, 0x22]))).toBe('not UTF-8');
  expect(jsonProblem(Buffer.from('"é"').subarray(0, 2))).toBe('not UTF-8');
});

test('the problem is one short line for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (data) => {
      const problem = jsonProblem(data);
      if (problem === undefined) return;
      expect(problem).not.toMatch(/[\r\n]/);
      expect(problem.length).toBeLessThanOrEqual(230);
    }),
  );
});
