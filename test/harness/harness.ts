/** The real clients, each run once with a prompt, a model of ours, and our server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serverFile } from '../mcp/session.ts';
import type { TempBase } from '../support/temp-base.ts';
import { claudeCode, codex } from './fetch-clients.ts';

export interface Run {
  readonly child: ChildProcess;
  /** Resolves with the exit code, null for a signal. */
  readonly ended: Promise<number | null>;
  output(): string;
}

export interface Harness {
  readonly name: string;
  /** Starts it in `temp.scratch`; it leads a process group of its own. */
  run(temp: TempBase, modelUrl: string, extraEnv?: Readonly<Record<string, string>>): Run;
}

const tools = ['start_job', 'wait_jobs', 'job_status', 'job_result', 'job_log', 'reap_job', 'list_jobs'];

function serverArgs(temp: TempBase): string[] {
  return [serverFile, '--root', temp.base];
}

export const claudeCodeHarness: Harness = {
  name: 'Claude Code',
  run: (temp, modelUrl, extraEnv = {}) => {
    const config = { mcpServers: { 'peer-jobs': { command: process.execPath, args: serverArgs(temp) } } };
    const file = temp.file('mcp.json', JSON.stringify(config));
    const allowed = tools.map((tool) => `mcp__peer-jobs__${tool}`).join(',');
    return launch(
      temp,
      [
        claudeCode,
        '-p',
        'run the job',
        '--mcp-config',
        file,
        '--strict-mcp-config',
        '--allowedTools',
        allowed,
      ],
      {
        ANTHROPIC_BASE_URL: modelUrl,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ENABLE_TOOL_SEARCH: 'false',
        MCP_CONNECTION_NONBLOCKING: 'false',
        ...extraEnv,
      },
    );
  },
};

export const codexHarness: Harness = {
  name: 'Codex',
  run: (temp, modelUrl, extraEnv = {}) => {
    const home = join(temp.root, 'home/.codex');
    mkdirSync(home, { recursive: true });
    writeFileSync(
      join(home, 'config.toml'),
      `model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.scripted]
name = "scripted"
base_url = ${JSON.stringify(`${modelUrl}/v1`)}
wire_api = "responses"
[mcp_servers.peer-jobs]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify(serverArgs(temp))}
`,
    );
    return launch(temp, [codex, 'exec', '--skip-git-repo-check', 'run the job'], extraEnv);
  },
};

function launch(temp: TempBase, argv: readonly string[], extraEnv: Readonly<Record<string, string>>): Run {
  const home = join(temp.root, 'home');
  mkdirSync(home, { recursive: true });
  const [file = '', ...args] = argv;
  const child = spawn(file, args, {
    cwd: temp.scratch,
    env: { PATH: process.env.PATH ?? '', HOME: home, ...extraEnv },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  temp.ledger.register(child.pid ?? 0, 'the client');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  });
  return { child, ended, output: () => output };
}
