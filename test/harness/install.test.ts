import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { repoRoot } from '../support/programs.ts';
import { runProgram } from '../support/run-cli.ts';
import { type TempBase, test } from '../support/temp-base.ts';
import { claudeCode } from './fetch-clients.ts';

/** Lines run one after the other in the repository, as a user of an empty account who has both clients on PATH. */
async function typed(temp: TempBase, ...lines: readonly string[]): Promise<string> {
  const HOME = join(temp.root, 'home');
  mkdirSync(HOME, { recursive: true });
  const PATH = [join(claudeCode, '..'), process.env.PATH].join(':');
  const env = { HOME, PATH, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', PWD: repoRoot };
  const run = await runProgram(['sh', '-ec', lines.join('\n')], { env, cwd: repoRoot, timeoutMs: 280_000 });
  const output = `${run.stdout.toString('utf8')}${run.stderr}`;
  expect(run.code, output).toBe(0);
  return output;
}

/** What the README says to type for a client. */
function lineFor(client: string): string {
  const rows = readFileSync(join(repoRoot, 'README.md'), 'utf8').matchAll(/^\| (.+?) \| `(.+?)` \|$/gm);
  return [...rows].find(([, name]) => name === client)?.[2] ?? '';
}

describe('the line in the README for', () => {
  test('Claude Code adds a server that it can talk to', async ({ temp }) => {
    const said = await typed(temp, lineFor('Claude Code'), 'claude mcp list');
    expect(said).toMatch(/^peer-jobs: node .*dist\/peer-jobs\.mjs mcp - .*Connected/m);
  });

  test('Codex adds a server', async ({ temp }) => {
    const said = await typed(temp, lineFor('Codex'), 'codex mcp list');
    expect(said).toMatch(/^peer-jobs +node +.*dist\/peer-jobs\.mjs mcp .*enabled/m);
  });

  test('the plugin is what a marketplace takes, and installs a server that Claude Code can talk to', async ({
    temp,
  }) => {
    const bundler = join(repoRoot, 'scripts/bundle.mjs');
    const place = temp.at('repository');
    mkdirSync(place);
    cpSync(join(repoRoot, '.claude-plugin'), join(place, '.claude-plugin'), { recursive: true });
    const [, ...install] = lineFor('… as a plugin').split(' && ');
    const said = await typed(
      temp,
      `node '${bundler}' --here --to '${place}'`,
      `cd '${place}'`,
      'claude plugin validate plugin',
      'claude plugin validate .',
      ...install,
      'claude mcp list',
    );
    expect(install).toHaveLength(2);
    expect(said.match(/Validation passed/g)).toHaveLength(2);
    expect(said).toMatch(/^plugin:peer-jobs:peer-jobs: node .*server\.mjs - .*Connected/m);
  });
});
