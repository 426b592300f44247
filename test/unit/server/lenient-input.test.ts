import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lenient } from '../../../server/lenient-input.ts';

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    seconds: { type: 'number' },
    flag: { type: 'boolean' },
    list: { type: 'array', items: { type: 'string' } },
    map: { type: 'object', additionalProperties: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    word: { type: 'string', enum: ['all', 'any'] },
  },
  required: ['text'],
};
const take = (value: unknown): unknown => lenient(schema, value);

describe('what has one meaning is taken in the form that the schema asks for', () => {
  const cases: readonly [string, unknown, unknown][] = [
    ['a number in a string', { count: '20', seconds: ' 1.5 ' }, { count: 20, seconds: 1.5 }],
    ['an exponent', { seconds: '1e3' }, { seconds: 1000 }],
    ['a bare value for a list', { list: 'one' }, { list: ['one'] }],
    ['a list as JSON text', { list: '["one", "two"]' }, { list: ['one', 'two'] }],
    ['an object as JSON text', { map: '{"A": "1"}' }, { map: { A: '1' } }],
    ['all arguments as JSON text', '{"count": "1"}', { count: 1 }],
    ['null for absent', { text: null, count: null, list: null }, {}],
    ['null where null says something', { map: { A: null } }, { map: { A: null } }],
    [
      'numbers among texts',
      { list: ['a', 1], text: 5, map: { A: 0 } },
      { list: ['a', '1'], text: '5', map: { A: '0' } },
    ],
    ['a list of one for a text', { text: ['one'] }, { text: 'one' }],
    ['a switch in words', { flag: 'true' }, { flag: true }],
  ];
  for (const [what, given, taken] of cases) test(what, () => expect(take(given)).toEqual(taken));
});

describe('what could mean several things stays as it is', () => {
  const cases: readonly [string, unknown][] = [
    ['words for a number', { count: 'twenty' }],
    ['a number with a unit', { seconds: '30s' }],
    ['nothing for a number', { count: '' }],
    ['nothing for a list', { list: '' }],
    ['two values for a text', { text: ['one', 'two'] }],
    ['an object for a text', { text: { a: 1 } }],
    ['yes for a switch', { flag: 'yes' }],
    ['1 for a switch', { flag: 1 }],
    ['an unknown argument', { other: '1' }],
    ['infinity', { seconds: 'Infinity' }],
    ['hexadecimal', { count: '0x10' }],
    ['a list for the arguments', [1]],
  ];
  for (const [what, given] of cases) test(what, () => expect(take(given)).toEqual(given));
});

test('what fits the schema already is never changed', () => {
  const fitting = fc.record(
    {
      text: fc.string(),
      count: fc.integer(),
      seconds: fc.double({ noNaN: true }),
      flag: fc.boolean(),
      list: fc.array(fc.string()),
      map: fc.dictionary(fc.string(), fc.option(fc.string())),
      word: fc.constantFrom('all', 'any'),
    },
    { requiredKeys: ['text'] },
  );
  fc.assert(
    fc.property(fitting, (value) => {
      expect(take(value)).toEqual(value);
    }),
  );
});

test('no input at all makes it throw or run long', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      take(value);
      take({ text: value, count: value, list: value, map: value, flag: value });
    }),
  );
});
