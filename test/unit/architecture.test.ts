import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

// "What never imports what" of the design, read off the sources. Each rule also proves that it notices a breach.

const maxLines = 250;

interface Import {
  /** A bare specifier as written, or the path from the repository's root of the file a relative one names. */
  target: string;
  how: 'type' | 'static' | 'dynamic';
  line: number;
}

interface Source {
  path: string;
  lines: number;
  imports: Import[];
  /** Members of `process` the code touches, however it reaches them. */
  processMembers: { name: string; line: number }[];
}

interface Rule {
  name: string;
  /** What is wrong in a file, and on which line. */
  breaches: (source: Source) => { line: number; what: string }[];
  /** One small file that breaks the rule. */
  example: { path: string; text: string };
}

const isIn = (path: string, ...places: string[]): boolean =>
  places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place));
const isPackage = (target: string, ...names: string[]): boolean =>
  names.some((name) => target === name || target.startsWith(`${name}/`));
const isKoffi = (target: string): boolean =>
  isPackage(target, 'koffi') || target.startsWith('@koromix/koffi');

/** A rule over the imports of the files `where` names: none of them may be `wrong`. */
function importRule(
  name: string,
  where: (path: string) => boolean,
  wrong: (imported: Import) => boolean,
  example: Rule['example'],
): Rule {
  const breaches = ({ path, imports }: Source) =>
    where(path) ? imports.filter(wrong).map(({ target, line }) => ({ line, what: `imports ${target}` })) : [];
  return { name, breaches, example };
}

function processRule(
  name: string,
  members: string[],
  allowed: (path: string) => boolean,
  example: Rule['example'],
): Rule {
  const breaches = ({ path, processMembers }: Source) =>
    allowed(path)
      ? []
      : processMembers
          .filter((member) => members.includes(member.name))
          .map((member) => ({ line: member.line, what: `uses process.${member.name}` }));
  return { name, breaches, example };
}

const inRunnerCore = (path: string): boolean => isIn(path, 'runner-core/');
const isMain = (path: string): boolean => posix.basename(path) === 'main.ts';
/** All that jobs of this machine have no use for. */
const isEngineOwn = (path: string): boolean =>
  isIn(path, 'runner-core/engine/') && !/\/(port|index|local|standing|slurm-options)\.ts$/.test(path);
const rawApiFiles = ['runner-core/platform/win32-api.ts', 'runner-core/platform/linux-api.ts'];

const rules: Rule[] = [
  importRule(
    'job/ imports of our own files only job/, limits.ts and errors.ts, and nothing else',
    (path) => isIn(path, 'runner-core/job/'),
    ({ target }) => !isIn(target, 'runner-core/job/', 'runner-core/limits.ts', 'runner-core/errors.ts'),
    { path: 'runner-core/job/id.ts', text: "import { randomBytes } from 'node:crypto';" },
  ),
  importRule(
    'zod is imported where input is declared only: a supervisor does without',
    (path) =>
      !isIn(
        path,
        'runner-core/operations/',
        'runner-core/cli/',
        'runner-core/engine/slurm-options.ts',
        'server/',
      ),
    ({ target }) => isPackage(target, 'zod'),
    { path: 'runner-core/job/records.ts', text: "import * as z from 'zod/mini';" },
  ),
  importRule('runner-core/ never imports server/', inRunnerCore, ({ target }) => isIn(target, 'server/'), {
    path: 'runner-core/cli/main.ts',
    text: "await import('../../server/main.ts');",
  }),
  importRule(
    'the MCP SDK is imported in server/ only',
    (path) => !isIn(path, 'server/'),
    ({ target }) => target.startsWith('@modelcontextprotocol/'),
    { path: 'runner-core/index.ts', text: "import type { Tool } from '@modelcontextprotocol/sdk/types.js';" },
  ),
  importRule(
    'server/ imports of runner-core/ only its index.ts',
    (path) => isIn(path, 'server/'),
    ({ target }) => inRunnerCore(target) && target !== 'runner-core/index.ts',
    { path: 'server/main.ts', text: "export * from '../runner-core/limits.ts';" },
  ),
  importRule(
    'cli/ imports of runner-core/ only its index.ts, its lean.ts and cli/ itself; its entry also runs supervisors',
    (path) => isIn(path, 'runner-core/cli/'),
    ({ target }) =>
      inRunnerCore(target) &&
      !isIn(
        target,
        'runner-core/index.ts',
        'runner-core/lean.ts',
        'runner-core/cli/',
        'runner-core/supervisor/main.ts',
        'runner-core/engine/inside.ts',
      ),
    { path: 'runner-core/cli/parse.ts', text: "import type { Start } from '../operations/start.ts';" },
  ),
  importRule(
    'supervisor/ never imports operations/ or cli/',
    (path) => isIn(path, 'runner-core/supervisor/'),
    ({ target }) => isIn(target, 'runner-core/operations/', 'runner-core/cli/'),
    { path: 'runner-core/supervisor/adopt.ts', text: "import { reap } from '../operations/reap.ts';" },
  ),
  importRule(
    'engine/ never imports operations/ or cli/',
    (path) => isIn(path, 'runner-core/engine/'),
    ({ target }) => isIn(target, 'runner-core/operations/', 'runner-core/cli/'),
    { path: 'runner-core/engine/slurm.ts', text: "import { reap } from '../operations/reap.ts';" },
  ),
  importRule(
    'of engines other than this machine only what a start may ask of them is loaded before there is a job of theirs',
    (path) => !isEngineOwn(path),
    ({ target, how }) => isEngineOwn(target) && how === 'static',
    { path: 'runner-core/engine/index.ts', text: "import { slurm } from './slurm.ts';" },
  ),
  importRule(
    'operations/ never imports cli/',
    (path) => isIn(path, 'runner-core/operations/'),
    ({ target }) => isIn(target, 'runner-core/cli/'),
    { path: 'runner-core/operations/start.ts', text: "import { render } from '../cli/render.ts';" },
  ),
  importRule(
    `koffi is imported in ${rawApiFiles.join(' and ')} only`,
    (path) => !rawApiFiles.includes(path),
    ({ target }) => isKoffi(target),
    { path: 'runner-core/platform/win32.ts', text: "const koffi = require('koffi');" },
  ),
  importRule(
    'koffi is loaded when used, never by a static import: it may be missing',
    () => true,
    ({ target, how }) => isKoffi(target) && how === 'static',
    { path: 'runner-core/platform/win32-api.ts', text: "import koffi from 'koffi';" },
  ),
  importRule(
    'execa and tree-kill are imported in platform/ and supervisor/ only',
    (path) => !isIn(path, 'runner-core/platform/', 'runner-core/supervisor/'),
    ({ target }) => isPackage(target, 'execa', 'tree-kill'),
    { path: 'runner-core/operations/start.ts', text: "const { execa } = await import('execa');" },
  ),
  processRule(
    'process.platform is read in runner-core/platform/index.ts only',
    ['platform'],
    (path) => path === 'runner-core/platform/index.ts',
    { path: 'runner-core/store/roots.ts', text: "const isWindows = process.platform === 'win32';" },
  ),
  processRule('process.exit and process.argv are used in main.ts files only', ['exit', 'argv'], isMain, {
    path: 'server/shutdown.ts',
    text: "import { exit } from 'node:process';",
  }),
  {
    name: `no file has more than ${maxLines} lines`,
    breaches: ({ lines }) =>
      lines > maxLines ? [{ line: maxLines + 1, what: `is ${lines} lines long` }] : [],
    example: { path: 'server/main.ts', text: '\n'.repeat(maxLines + 1) },
  },
];

describe('architecture', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const folders = ['runner-core', 'server'].filter((folder) => existsSync(root + folder));
  const sources = folders.flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
      .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
      .filter((path) => /\.[cm]?[jt]sx?$/.test(path))
      .map((path) => readSource(path, readFileSync(root + path, 'utf8'))),
  );

  test('there are sources to judge', () => {
    expect(sources.length).toBeGreaterThan(0);
  });

  for (const { name, breaches, example } of rules) {
    test(name, () => {
      const found = sources.flatMap((source) =>
        breaches(source).map(({ line, what }) => `${source.path}:${line} ${what}`),
      );
      expect(found, `${name}:\n${found.join('\n')}\n`).toEqual([]);
    });

    test(`a breach is noticed: ${name}`, () => {
      expect(breaches(readSource(example.path, example.text))).toHaveLength(1);
    });
  }

  test('text in comments and strings breaks nothing', () => {
    const text =
      "// import koffi from 'koffi'; process.exit()\nexport const help = `process.argv import('execa')`;";
    expect(rules.flatMap(({ breaches }) => breaches(readSource('runner-core/limits.ts', text)))).toEqual([]);
  });
});

function readSource(path: string, text: string): Source {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const source: Source = {
    path,
    lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    imports: [],
    processMembers: [],
  };
  const lineOf = (node: ts.Node): number => file.getLineAndCharacterOfPosition(node.getStart()).line + 1;

  const noteImport = (specifier: ts.Node | undefined, how: Import['how']): void => {
    if (!specifier || !ts.isStringLiteralLike(specifier)) return;
    const { text } = specifier;
    const target = text.startsWith('.') ? posix.join(posix.dirname(path), text) : text;
    source.imports.push({ target, how, line: lineOf(specifier) });
  };
  const noteMember = (name: ts.Node | undefined): void => {
    if (name && (ts.isIdentifier(name) || ts.isStringLiteralLike(name)))
      source.processMembers.push({ name: name.text, line: lineOf(name) });
  };

  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      noteImport(node.moduleSpecifier, node.importClause?.isTypeOnly ? 'type' : 'static');
      const named = node.importClause?.namedBindings;
      const fromProcess =
        ts.isStringLiteral(node.moduleSpecifier) && /^(node:)?process$/.test(node.moduleSpecifier.text);
      if (fromProcess && named && ts.isNamedImports(named))
        for (const element of named.elements) noteMember(element.propertyName ?? element.name);
    } else if (ts.isExportDeclaration(node)) {
      noteImport(node.moduleSpecifier, node.isTypeOnly ? 'type' : 'static');
    } else if (ts.isImportTypeNode(node)) {
      noteImport(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, 'type');
    } else if (ts.isCallExpression(node) && isModuleLoad(node.expression)) {
      noteImport(node.arguments[0], 'dynamic');
    } else if (ts.isPropertyAccessExpression(node) && isProcess(node.expression)) {
      noteMember(node.name);
    } else if (ts.isElementAccessExpression(node) && isProcess(node.expression)) {
      noteMember(node.argumentExpression);
    } else if (ts.isVariableDeclaration(node) && node.initializer && isProcess(node.initializer)) {
      if (ts.isObjectBindingPattern(node.name))
        for (const element of node.name.elements) noteMember(element.propertyName ?? element.name);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return source;
}

/** `import(…)`, or `require(…)` under any name that says so. */
function isModuleLoad(callee: ts.Expression): boolean {
  return (
    callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && /require/i.test(callee.text))
  );
}

/** `process` or `globalThis.process`. */
function isProcess(node: ts.Expression): boolean {
  if (ts.isPropertyAccessExpression(node))
    return node.name.text === 'process' && node.expression.getText() === 'globalThis';
  return ts.isIdentifier(node) && node.text === 'process';
}
