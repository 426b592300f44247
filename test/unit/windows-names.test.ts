/** Holds the Windows suite to the tests of the other systems, and the table of promises to the tests that there are. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { promises } from '../windows/promises.ts';
import { windowsOnly } from '../windows/windows-only.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

/** A text as written; what a template or a table fills in later is `$`. */
function textOf(node: ts.Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map(({ literal }) => `$x${literal.text}`).join('');
}

/** `test` in `test(…)`, `test.skipIf(x)(…)`, `test.for(x)(…)`. */
function calleeOf(expression: ts.Expression): string {
  if (ts.isIdentifier(expression)) return expression.text;
  if (ts.isCallExpression(expression) || ts.isPropertyAccessExpression(expression)) {
    return calleeOf(expression.expression);
  }
  return '';
}

/** The names of all tests in a source, each with those of the groups around it. */
function testNames(text: string, path = 'a.test.ts'): string[][] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const functions = new Map<string, ts.Node>();
  for (const statement of source.statements) {
    if (ts.isFunctionDeclaration(statement) && statement.name) functions.set(statement.name.text, statement);
  }
  const names: string[][] = [];
  const visitBelow = (node: ts.Node, groups: readonly string[]): void => {
    ts.forEachChild(node, (child) => visit(child, groups));
  };
  const visit = (node: ts.Node, groups: readonly string[]): void => {
    // Visited where a group calls for it.
    if (ts.isFunctionDeclaration(node) && groups.length === 0) return;
    const name = ts.isCallExpression(node) ? textOf(node.arguments[0]) : undefined;
    if (!ts.isCallExpression(node) || name === undefined) {
      visitBelow(node, groups);
      return;
    }
    const callee = calleeOf(node.expression);
    if (callee === 'describe') {
      const body = node.arguments.at(-1);
      const named = body && ts.isIdentifier(body) ? functions.get(body.text) : undefined;
      visitBelow(named ?? node, [...groups, name]);
      return;
    }
    if (['test', 'scenario'].includes(callee)) names.push([...groups, name]);
    visitBelow(node, groups);
  };
  visitBelow(source, []);
  return names;
}

function namesBelow(folder: string, ending: string): string[][] {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(ending))
    .flatMap((name) => testNames(readFileSync(join(root, folder, name), 'utf8'), name));
}

/** Without what differs by custom: colons between groups, and numbers. */
function plain(name: string): string {
  return name.replaceAll(/\d+/g, '0').replaceAll(':', '').replaceAll(/\s+/g, ' ').trim();
}

/** Whether `name` is what one of `names` says, or what it becomes when it is filled in. */
function matcher(names: readonly string[]): (name: string) => boolean {
  const exact = new Set(names.map(plain));
  const patterns = names
    .filter((name) => /\$\w|%[sj]/.test(name))
    .map((name) => {
      const parts = plain(name)
        .split(/\$\w+|%[sj]/)
        .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
      return new RegExp(`^${parts.join('.*')}$`);
    })
    // One that is filled in from end to end tells nothing.
    .filter(({ source }) => source.replaceAll(/[^a-z]/g, '').length > 8);
  return (name) => exact.has(plain(name)) || patterns.some((pattern) => pattern.test(plain(name)));
}

const elsewhere = ['process', 'mcp'].flatMap((folder) => namesBelow(folder, '.test.ts'));
// A group may name what only concerns its other tests: the name of the test alone is enough.
const isElsewhere = matcher(elsewhere.flatMap((path) => [path.join(' '), path.at(-1) ?? '']));
const suite = namesBelow('windows/suite', '.ts').map((path) => path.join(' '));
const isInSuite = matcher(suite);
const onlyThere = windowsOnly.flatMap(({ tests }) => tests);
const isReal = (name: string): boolean => name.startsWith('real Windows: ');

describe('names of tests are read', () => {
  test.for([
    ["describe('a', () => { test('b', () => {}); });", 'a b'],
    ["describe.each(x)('$name does', () => { test.skipIf(y)('b', {}, () => {}); });", '$name does b'],
    ["describe.each(x)('$name does', body);\nfunction body() { test('b', () => {}); }", '$name does b'],
    ['for (const x of y) scenario(`a $'.concat('{x} b`, async () => {});'), 'a $x b'],
  ] as const)('%s', ([text, name]) => {
    expect(testNames(text).map((path) => path.join(' '))).toEqual([name]);
  });

  test('and there are many', () => {
    expect(elsewhere.length).toBeGreaterThan(150);
    expect(suite.length).toBeGreaterThan(80);
  });
});

test('each test of the Windows suite has its namesake on Linux, or is listed as Windows’ own', () => {
  expect(suite.filter((name) => !isReal(name) && !onlyThere.includes(name) && !isElsewhere(name))).toEqual(
    [],
  );
});

test('what is listed as Windows’ own is there, once, and has no namesake', () => {
  expect(onlyThere.filter((name) => !suite.includes(name) || isElsewhere(name))).toEqual([]);
  expect(new Set(onlyThere).size).toBe(onlyThere.length);
  for (const { why } of windowsOnly) expect(why).not.toBe('');
});

describe('the table of promises', () => {
  test.for(promises.map((promise) => [promise.promise, promise] as const))(
    '%s: names tests that there are',
    ([, { everywhere = [], linux = [], windows = [], real }]) => {
      expect([...everywhere, ...linux].filter((name) => !isElsewhere(name))).toEqual([]);
      expect([...everywhere, ...windows].filter((name) => !isInSuite(name) || isReal(name))).toEqual([]);
      expect((real?.tests ?? []).filter((name) => !suite.includes(name) || !isReal(name))).toEqual([]);
      expect([...everywhere, ...linux, ...windows, ...(real?.tests ?? [])]).not.toEqual([]);
    },
  );

  test('leaves out nothing that only real Windows proves, and nothing that is Windows’ own', () => {
    const told = new Set(promises.flatMap(({ windows = [], real }) => [...windows, ...(real?.tests ?? [])]));
    expect(suite.filter((name) => isReal(name) && !told.has(name))).toEqual([]);
    expect(onlyThere.filter((name) => !told.has(name))).toEqual([]);
  });
});
