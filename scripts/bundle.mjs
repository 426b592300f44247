// Packs the server for hosts that install MCP bundles, and fills the Claude Code plugin. Run after the build.
// `--manifest` only brings manifest.json, server.json and the plugin up to date; `--check` fails where they are not;
// `--here` packs the native part of this machine alone, without a network; `--to DIR` puts the bundle and a plugin there.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...parts) => join(root, ...parts);
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
const args = process.argv.slice(2);
const flags = new Set(args);
const target = flags.has('--to') ? args[args.indexOf('--to') + 1] : undefined;
const { name, version, description, mcpName, repository } = readJson(at('package.json'));
/** As people and registries write it; npm has it with the protocol that it clones by. */
const home = repository.url.replace(/^git\+|\.git$/g, '');

/** koffi's native parts for the systems that Claude Desktop and most clients run on. */
const NATIVE = ['win32-x64', 'win32-arm64', 'darwin-x64', 'darwin-arm64', 'linux-x64', 'linux-arm64'];

async function toolsOfServer() {
  const transport = new StdioClientTransport({ command: process.execPath, args: [at('dist/server.mjs')] });
  const client = new Client({ name: 'bundle', version });
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.close();
  // A manifest is read by people who choose: the first sentence is what they need.
  return tools.map((tool) => ({ name: tool.name, description: tool.description.split(/(?<=\.) /)[0] }));
}

/** The documents that carry the version, the tools or the owner, as they should be. */
async function documents() {
  const tools = await toolsOfServer();
  const manifest = {
    ...readJson(at('manifest.json')),
    version,
    description,
    tools,
    repository: { type: 'git', url: home },
  };
  const registry = {
    ...readJson(at('server.json')),
    name: mcpName,
    version,
    repository: { url: home, source: 'github' },
  };
  for (const entry of registry.packages) Object.assign(entry, { identifier: name, version });
  const plugin = { ...readJson(at('plugin/.claude-plugin/plugin.json')), version, repository: home };
  return { 'manifest.json': manifest, 'server.json': registry, 'plugin/.claude-plugin/plugin.json': plugin };
}

let drifted = false;
for (const [path, content] of Object.entries(await documents())) {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  if (readFileSync(at(path), 'utf8') === text) continue;
  if (flags.has('--check')) {
    console.error(`${path} is not up to date; run \`npm run bundle -- --manifest\``);
    drifted = true;
  } else {
    writeFileSync(at(path), text);
    console.log(`wrote ${path}`);
  }
}

if (flags.has('--check')) process.exit(drifted ? 1 : 0);
if (!flags.has('--manifest')) pack();

function run(file, args, options = {}) {
  execFileSync(file, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
}

function mcpb(...args) {
  run(process.execPath, [at('node_modules/@anthropic-ai/mcpb/dist/cli/cli.js'), ...args]);
}

/** What a server needs: itself, the command beside it, and what runs supervisors. */
function programs() {
  const wanted = ['server.mjs', 'peer-jobs.mjs', `supervisor-${version}.cjs`];
  return readdirSync(at('dist')).filter((file) => wanted.includes(file));
}

function pack() {
  mcpb('validate', at('manifest.json'));
  // A plugin is copied as a folder, so that it must hold what it runs.
  const plugin = target === undefined ? at('plugin') : join(target, 'plugin');
  for (const part of ['dist', 'node_modules']) rmSync(join(plugin, part), { recursive: true, force: true });
  if (target !== undefined) cpSync(at('plugin'), plugin, { recursive: true });
  const stage = mkdtempSync(join(tmpdir(), 'peer-jobs-bundle-'));
  try {
    for (const file of ['manifest.json', 'LICENSE', 'README.md']) cpSync(at(file), join(stage, file));
    for (const file of programs()) cpSync(at('dist', file), join(stage, 'dist', file));
    stageKoffi(join(stage, 'node_modules'));
    for (const part of ['dist', 'node_modules'])
      cpSync(join(stage, part), join(plugin, part), { recursive: true });
    const output = join(target ?? at('dist'), `${name}-${version}.mcpb`);
    mcpb('pack', stage, output);
    console.log(output);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  console.log(plugin);
}

/** koffi without its sources, and its native parts beside it. */
function stageKoffi(modules) {
  const koffi = at('node_modules/koffi');
  const wanted = /^(package\.json|LICENSE.*|index\.c?js|src\/koffi\/(src\/)?[a-z]+\.c?js)$/;
  for (const file of readdirSync(koffi, { recursive: true })) {
    if (wanted.test(file.replaceAll('\\', '/'))) cpSync(join(koffi, file), join(modules, 'koffi', file));
  }
  const { optionalDependencies } = readJson(join(koffi, 'package.json'));
  for (const system of NATIVE) {
    const part = `@koromix/koffi-${system}`;
    const installed = at('node_modules', part);
    if (existsSync(installed)) cpSync(installed, join(modules, part), { recursive: true });
    else if (!flags.has('--here')) fetchPackage(`${part}@${optionalDependencies[part]}`, join(modules, part));
  }
}

/** A package that npm does not install on this system. */
function fetchPackage(spec, target) {
  const folder = mkdtempSync(join(tmpdir(), 'peer-jobs-part-'));
  try {
    run('npm', ['pack', spec, '--pack-destination', folder, '--loglevel=error'], { cwd: folder });
    const [archive] = readdirSync(folder);
    mkdirSync(target, { recursive: true });
    run('tar', ['-xzf', join(folder, archive), '-C', target, '--strip-components=1']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
