import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect } from 'vitest';
import * as z from 'zod';
import { repoRoot } from '../support/programs.ts';
import { runProgram } from '../support/run-cli.ts';
import { type TempBase, test } from '../support/temp-base.ts';

const mcpb = join(repoRoot, 'node_modules/@anthropic-ai/mcpb/dist/cli/cli.js');
const bundler = join(repoRoot, 'scripts/bundle.mjs');

async function succeed(temp: TempBase, file: string, args: readonly string[]): Promise<void> {
  const run = await runProgram([process.execPath, file, ...args], { env: temp.env, cwd: temp.scratch });
  expect(run.code, `${run.stdout}${run.stderr}`).toBe(0);
}

const manifestSchema = z.object({
  server: z.object({ mcp_config: z.object({ command: z.string(), args: z.array(z.string()) }) }),
  user_config: z.record(z.string(), z.unknown()),
});

/** As a host starts an installed bundle: the folder filled in, and every setting that the user left empty as it is. */
async function serve(temp: TempBase, command: string, args: readonly string[]): Promise<void> {
  const transport = new StdioClientTransport({
    command: command === 'node' ? process.execPath : command,
    args: [...args],
    env: { ...temp.env },
    cwd: temp.scratch,
  });
  const client = new Client({ name: 'bundle-host', version: '1' });
  await client.connect(transport);
  temp.ledger.register(transport.pid ?? 0, 'the server');
  const answer = await client.callTool({
    name: 'start_job',
    arguments: {
      argv: ['sh', '-c', 'echo from the bundle > out.txt'],
      result_path: 'out.txt',
      wait_secs: 30,
    },
  });
  expect(answer.structuredContent).toMatchObject({ state: 'done', result_text: 'from the bundle\n' });
  const { contents } = await client.readResource({ uri: 'peer-jobs://doctor' });
  // It has its native part with it.
  expect(JSON.stringify(contents)).not.toMatch(/warning koffi|problem/);
  await client.close();
}

describe('the bundle', () => {
  test('manifest, registry entry and plugin tell the version and the tools of the server', async ({
    temp,
  }) => {
    await succeed(temp, bundler, ['--check']);
  });

  test('has a manifest that its own tool finds valid', async ({ temp }) => {
    await succeed(temp, mcpb, ['validate', join(repoRoot, 'manifest.json')]);
  });

  test('packed and unpacked elsewhere, serves; and so does the plugin folder', async ({ temp }) => {
    await succeed(temp, bundler, ['--here', '--to', temp.scratch]);
    const packed = readdirSync(temp.scratch).find((name) => name.endsWith('.mcpb'));
    const folder = temp.at('unpacked');
    await succeed(temp, mcpb, ['unpack', temp.at(packed ?? ''), folder]);
    const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')));
    const { command, args } = manifest.server.mcp_config;
    const placeholder = (name: string): string => ['$', '{', name, '}'].join('');
    await serve(
      temp,
      command,
      args.map((arg) => arg.replace(placeholder('__dirname'), folder)),
    );

    const pluginFile = temp.at('plugin/.mcp.json');
    const plugin = z
      .object({
        mcpServers: z.object({ 'peer-jobs': z.object({ command: z.string(), args: z.array(z.string()) }) }),
      })
      .parse(JSON.parse(readFileSync(pluginFile, 'utf8'))).mcpServers['peer-jobs'];
    const inPlugin = plugin.args.map((arg) =>
      arg.replace(placeholder('CLAUDE_PLUGIN_ROOT'), temp.at('plugin')),
    );
    await serve(temp, plugin.command, inPlugin);
  });

  test('every setting of the user’s reaches the server', async () => {
    const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(repoRoot, 'manifest.json'), 'utf8')));
    const args = manifest.server.mcp_config.args.join(' ');
    for (const setting of Object.keys(manifest.user_config))
      expect(args).toContain(`{user_config.${setting}}`);
  });
});
