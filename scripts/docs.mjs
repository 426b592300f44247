// Writes the tables in the documents that the sources already tell. `--check` writes nothing and fails on drift.
// A region stands between `<!-- generated: NAME -->` and `<!-- end generated -->`; what is between them is ours.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const REGION = /(<!-- generated: ([a-z-]+) -->\n)[\s\S]*?(<!-- end generated -->)/g;

/** Between our own processes, and nobody else's business. */
const INTERNAL = ['PEER_JOBS_SUPERVISOR', 'PEER_JOBS_PIPES', 'PEER_JOBS_RELAY', 'PEER_JOBS_BREAKAWAY'];
/** What only the server reads; the rest is in runner-core/variables.ts. */
const SERVER_VARIABLES = {
  PEER_JOBS_MAX_WAIT_SECS: 'The MCP server: the longest wait in one call, for every client.',
};
const NAMES_A_VARIABLE =
  /\b(?:CE_(?:PEER|WORK)_[A-Z_]+|CROSS_MODEL_[A-Z_]+|PEER_JOBS_[A-Z_]+|CLAUDE_CODE_GIT_BASH_PATH)\b/g;

/** The exports of TypeScript sources, bundled: Node 20 cannot run them as they are. */
async function load(name, contents, plugins = []) {
  const outfile = `${root}node_modules/.cache/peer-jobs-docs/${process.pid}-${name}.mjs`;
  await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['koffi'],
    define: { __VERSION__: '"0"' },
    banner: {
      js: "import{createRequire as __docsRequire}from'node:module';const require=__docsRequire(import.meta.url);",
    },
    plugins,
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile);
  }
}

/** Only the declarations of a module are wanted: whatever it imports is replaced by something that is never called. */
const withoutImports = {
  name: 'without-imports',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /.*/ }, ({ importer, path }) =>
      importer.includes('intended-differences') ? { path, namespace: 'stub' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'stub' }, () => ({
      contents:
        'module.exports = new Proxy(class {}, { get: (_, name) => name === "__esModule" ? true : () => [] });',
    }));
  },
};

const source = (path) => readFileSync(root + path, 'utf8');
const cell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (text) => `\`${text}\``;
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');
const firstSentence = (text) => `${text.split(/(?<=\.)\s/)[0].replace(/\.$/, '')}.`;

const {
  callOf,
  EXIT_MEANINGS,
  EXTRAS,
  FLAGS,
  flagMeaning,
  flagText,
  inCommandNames,
  SESSION_VARIABLES,
  TOOLS,
  longestWaitSecs,
  VARIABLES,
  vocabulary,
} = await load(
  'sources',
  `
  export { callOf, flagMeaning, flagText } from './runner-core/cli/command.ts';
  export { EXIT_MEANINGS, EXTRAS } from './runner-core/cli/help.ts';
  export { inCommandNames, vocabulary } from './runner-core/cli/vocabulary.ts';
  export { VARIABLES } from './runner-core/variables.ts';
  export { TOOLS } from './server/tools.ts';
  export { longestWaitSecs } from './server/client-bounds.ts';
  export { SESSION_VARIABLES } from './server/harness-env.ts';
  export { FLAGS } from './server/settings.ts';
`,
);
const { promises } = await load('promises', `export { promises } from './test/windows/promises.ts';`);
const { intendedDifferences } = await load(
  'differences',
  `export { intendedDifferences } from './test/differential/intended-differences.ts';`,
  [withoutImports],
);
const commands = await vocabulary();
const tools = TOOLS.map((tool) => tool.definition());

function variables() {
  const listed = [
    ...VARIABLES.map(({ name, fallback = '', meaning }) => [name, fallback, meaning]),
    ...Object.entries(SERVER_VARIABLES).map(([name, meaning]) => [name, '', meaning]),
  ];
  const known = new Set([...INTERNAL, ...listed.map(([name]) => name)]);
  const named = sourcesIn('runner-core', 'server').flatMap(
    (path) => source(path).match(NAMES_A_VARIABLE) ?? [],
  );
  const unknown = [...new Set(named)].filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new Error(`say what ${unknown.join(', ')} is for, in runner-core/variables.ts`);
  return listed.map(([name, ...rest]) => [code(name), ...rest]);
}

function sourcesIn(...folders) {
  return folders.flatMap((folder) =>
    readdirSync(root + folder, { recursive: true })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.ts')),
  );
}

function decisions() {
  return readdirSync(`${root}docs/decisions`)
    .filter((name) => /^\d{4}-.*\.md$/.test(name))
    .sort()
    .map((name) => {
      const title = /^# (.*)$/m.exec(source(`docs/decisions/${name}`))?.[1] ?? name;
      return `- [${name.slice(0, 4)}](${name}) ${title.replace(/^\d+\.?\s*/, '')}`;
    })
    .join('\n');
}

/** The tests of one promise, as the second level of a list. */
const proofs = (where, tests = []) =>
  tests.length > 0
    ? `  - ${where}: ${tests.map((name) => code(name.replace('real Windows: ', ''))).join('; ')}`
    : '';

const waitFor = (client, progress) => {
  const secs = longestWaitSecs(client, { env: {}, progress });
  return secs > 100_000 ? 'as long as the job' : `${secs} s`;
};

/** What is not needed from one job to the next. */
const FOR_CARE = new Set(['report', 'remove', 'prune', 'doctor', 'completion', 'man']);

function commandTable(some, extras = []) {
  return table(
    ['command', 'what it does'],
    [
      ...some.map((command) => [code(callOf(command)), inCommandNames(firstSentence(command.description))]),
      ...extras.map(({ name, description }) => [code(name), firstSentence(description)]),
    ],
  );
}

const regions = {
  tools: () =>
    table(
      ['tool', 'what it does'],
      tools.map((tool) => [code(tool.name), firstSentence(tool.description)]),
    ),
  commands: () => commandTable(commands.filter(({ operation }) => !FOR_CARE.has(operation.name))),
  'commands-for-care': () =>
    commandTable(
      commands.filter(({ operation }) => FOR_CARE.has(operation.name)),
      EXTRAS,
    ),
  windows: () =>
    table(
      ['variable', 'default', 'meaning'],
      variables().filter(([name, fallback]) => fallback !== '' && name !== code('CE_PEER_POLL_SECS')),
    ),
  'commands-in-full': () =>
    commands
      .map((command) => {
        const flags = command.flags.map((flag) => [code(flagText(flag)), flagMeaning(flag)]);
        const shown = flags.length > 0 ? `\n\n${table(['flag', 'meaning'], flags)}` : '';
        return `### ${code(callOf(command))}\n\n${inCommandNames(command.description)}${shown}`;
      })
      .join('\n\n'),
  'tools-in-full': () =>
    tools
      .map((tool) => {
        const required = new Set(tool.inputSchema.required);
        const fields = Object.entries(tool.inputSchema.properties ?? {}).map(([name, { description }]) => [
          `${code(name)}${required.has(name) ? ' (required)' : ''}`,
          description ?? '',
        ]);
        return `### ${code(tool.name)}\n\n${tool.description}\n\n${table(['argument', 'meaning'], fields)}`;
      })
      .join('\n\n'),
  'exit-codes': () => table(['code', 'meaning'], EXIT_MEANINGS),
  environment: () => table(['variable', 'default', 'meaning'], variables()),
  'session-variables': () =>
    table(
      ['client', 'kept from workers'],
      Object.entries(SESSION_VARIABLES).map(([client, names]) => [client, names.map(code).join(' ')]),
    ),
  'server-flags': () =>
    table(
      ['flag of `mcp`', 'in place of'],
      Object.entries(FLAGS).map(([flag, name]) => [code(`${flag} VALUE`), code(name)]),
    ),
  'client-bounds': () =>
    table(
      ['client', 'longest wait in one call', 'without a progress token'],
      ['claude-code', 'codex-mcp-client', 'any other'].map((name) => [
        name,
        waitFor(name, true),
        waitFor(name, false),
      ]),
    ),
  differences: () =>
    table(
      ['what differs', 'why'],
      intendedDifferences.map(({ differs, why }) => [differs, why]),
    ),
  decisions,
  // The first table of the last measurement.
  speed: () => source('docs/bench/comparison.md').split('\n\n')[1],
  platforms: () =>
    table(
      ['promise', 'Linux', 'Windows, under Wine', 'real Windows only', 'macOS'],
      promises.map(({ promise, everywhere = [], linux = [], windows = [], real }) => [
        promise,
        everywhere.length + linux.length > 0 ? 'yes' : '–',
        everywhere.length + windows.length > 0 ? 'yes' : '–',
        real?.what ?? '–',
        everywhere.length + linux.length > 0 ? 'untested' : '–',
      ]),
    ),
  'platform-proofs': () =>
    promises
      .map(({ promise, everywhere, linux, windows, real }) =>
        [
          `- **${promise}**`,
          proofs('everywhere', everywhere),
          proofs('Linux', linux),
          proofs('Windows', windows),
          proofs(`real Windows only (${real?.what})`, real?.tests),
        ]
          .filter(Boolean)
          .join('\n'),
      )
      .join('\n'),
};

const drifted = [];
for (const path of [
  'README.md',
  ...readdirSync(`${root}docs`, { recursive: true }).map((name) => `docs/${name}`),
]) {
  if (!path.endsWith('.md')) continue;
  const before = source(path);
  const after = before.replaceAll(REGION, (_, open, name, close) => {
    if (!Object.hasOwn(regions, name)) throw new Error(`${path}: no region is called ${name}`);
    return `${open}${regions[name]()}\n${close}`;
  });
  if (after === before) continue;
  drifted.push(path);
  if (!process.argv.includes('--check')) writeFileSync(root + path, after);
}

if (process.argv.includes('--check')) {
  if (drifted.length > 0) {
    console.error(`${drifted.join(', ')}: not what the sources say; run npm run docs`);
    process.exitCode = 1;
  }
} else console.log(drifted.length === 0 ? 'all as the sources say' : `wrote ${drifted.join(', ')}`);
