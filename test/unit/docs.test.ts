import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { vocabulary } from '../../runner-core/cli/vocabulary.ts';
import { TOOLS } from '../../server/tools.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

function markdownIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith('.md'));
}

const documents = [
  'README.md',
  'AGENTS.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...markdownIn('docs'),
  ...markdownIn('skill'),
];

const unfenced = (text: string): string => text.replaceAll(/^```[\s\S]*?^```/gm, '');

/** How GitHub names the place of a heading. */
function anchors(text: string): Set<string> {
  const headings = unfenced(text).matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** The command lines of ours in a document's examples, continued lines joined. */
function ourCommandLines(text: string): { name: string; rest: string }[] {
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
  const calls = blocks
    .join('\n')
    .replaceAll('\\\n', ' ')
    .replaceAll(/(?<=\s)# .*$/gm, '')
    .replaceAll(/\$\(date[^()]*\)/g, 'X')
    .matchAll(/(?:peer-jobs|pj|peer-jobs\.mjs"?) ([a-z]+)((?:(?!\$\()[^\n|;)])*)/g);
  return [...calls].map(([, name = '', rest = '']) => ({ name, rest: rest.split(' -- ')[0] ?? '' }));
}

test('the tables in the documents are what the sources say (else: npm run docs)', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/docs.mjs', '--check'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

describe.each(documents)('%s', (path) => {
  const text = read(path);

  test('links to what there is', () => {
    const broken = [...unfenced(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(root, target))) return [link];
      return anchor === undefined || anchors(read(target)).has(anchor) ? [] : [link];
    });
    expect(broken).toEqual([]);
  });

  test('names only scripts that package.json has', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const named = [...text.matchAll(/npm run ([a-z:]+)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('shows only commands and flags that there are', async () => {
    const commands = await vocabulary();
    const shapes = new Map(
      commands.map(({ operation, flags }) => [operation.name, flags.map(({ name }) => name)]),
    );
    const wrong = ourCommandLines(text).flatMap(({ name, rest }) => {
      // What follows mcp in an example is the Inspector's.
      if (name === 'mcp') return [];
      const flags = shapes.get(name);
      if (flags === undefined) return [name];
      const used = [...rest.matchAll(/(?<=\s)--([a-z-]+)/g)].map(([, flag = '']) => flag);
      return used.filter((flag) => !flags.includes(flag)).map((flag) => `${name} --${flag}`);
    });
    expect(wrong).toEqual([]);
  });

  test('names only tools that there are', () => {
    const named = text.match(/\b(?:start|wait|job|reap|list)_(?:jobs?|status|result|log)\b/g) ?? [];
    const known = new Set([...TOOLS.map(({ name }) => name), 'job_id', 'job_dir', 'job_name']);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('SECURITY.md', () => {
  const claims = [...read('SECURITY.md').matchAll(/\]\((test\/[^)]+)\) "([^"]+)"/g)].map(
    ([, file = '', name = '']) => ({ file, name }),
  );

  test('has a test for each claim', () => {
    const rows = read('SECURITY.md')
      .split('\n')
      .filter((line) => line.startsWith('| ') && line.includes('.ts`'));
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter((row) => !/\]\(test\/[^)]+\) "/.test(row))).toEqual([]);
  });

  test.each(claims)('$file has a test "$name"', ({ file, name }) => {
    expect(existsSync(join(root, file))).toBe(true);
    expect(read(file)).toContain(name);
  });
});

test('the decisions are numbered without a gap, each by the number in its title', () => {
  const files = readdirSync(join(root, 'docs/decisions'))
    .filter((name) => /^\d/.test(name))
    .sort();
  const numbers = files.map((name) => Number(name.slice(0, 4)));
  expect(numbers.slice(0, 19)).toEqual(Array.from({ length: 19 }, (_, index) => index + 1));
  expect(new Set(numbers).size).toBe(numbers.length);
  for (const name of files) {
    expect(read(`docs/decisions/${name}`)).toMatch(
      new RegExp(`^# (?:ADR )?0*${Number(name.slice(0, 4))}\\b`),
    );
  }
});

test('each dependency has its reason written down', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));
  const reasons = read('docs/decisions/0002-dependencies.md');
  const names = Object.keys({ ...dependencies, ...devDependencies });
  expect(names.filter((name) => !reasons.includes(`\`${name}\``))).toEqual([]);
});

test('the skill has a name and a description that clients take', () => {
  const [, head = ''] = /^---\n([\s\S]*?)\n---\n/.exec(read('skill/SKILL.md')) ?? [];
  expect(head).toMatch(/^name: peer-jobs$/m);
  const description = /^description: (.*)$/m.exec(head)?.[1] ?? '';
  expect(description.length).toBeGreaterThan(50);
  // https://agentskills.io/specification: at most 1024 characters.
  expect(description.length).toBeLessThanOrEqual(1024);
  expect(statSync(join(root, 'skill/SKILL.md')).size).toBeLessThan(8 * 1024);
});
