/** The real clients, each run once with a prompt, a model of ours, and our server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { serverFile } from '../mcp/session.ts';
import type { TempBase } from '../support/temp-base.ts';
import { claudeCode as claudeCodeProgram, codex } from './fetch-clients.ts';

const PROMPT = 'run the job';
const KEYBOARD_MS = 1000;

export interface Run {
  readonly child: ChildProcess;
  /** Resolves with the exit code, null for a signal. */
  readonly ended: Promise<number | null>;
  output(): string;
}

export interface Harness {
  readonly name: string;
  /** Its tool for reading a resource of a server. */
  readonly resourceReader: string;
  /** Starts it in `temp.scratch`; it leads a process group of its own. */
  run(temp: TempBase, modelUrl: string, extraEnv?: Readonly<Record<string, string>>): Run;
}

const tools = ['start_job', 'wait_jobs', 'job_status', 'job_result', 'job_log', 'reap_job', 'list_jobs'];

function serverArgs(temp: TempBase): string[] {
  return [serverFile, '--root', temp.base];
}

/** What Claude Code is told in either mode: where our server is, which tools need no question, and where its model is. */
function claudeCode(
  temp: TempBase,
  modelUrl: string,
  extraEnv: Readonly<Record<string, string>>,
): { argv: string[]; env: Readonly<Record<string, string>> } {
  const config = { mcpServers: { 'peer-jobs': { command: process.execPath, args: serverArgs(temp) } } };
  const file = temp.file('mcp.json', JSON.stringify(config));
  const allowed = [...tools.map((tool) => `mcp__peer-jobs__${tool}`), 'ReadMcpResourceTool'].join(',');
  return {
    // The prompt comes first: what follows --allowedTools is taken for tools.
    argv: [
      claudeCodeProgram,
      'run the job',
      '--mcp-config',
      file,
      '--strict-mcp-config',
      '--allowedTools',
      allowed,
    ],
    env: {
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ENABLE_TOOL_SEARCH: 'false',
      MCP_CONNECTION_NONBLOCKING: 'false',
      ...extraEnv,
    },
  };
}

export const claudeCodeHarness: Harness = {
  name: 'Claude Code',
  resourceReader: 'ReadMcpResourceTool',
  run: (temp, modelUrl, extraEnv = {}) => {
    const { argv, env } = claudeCode(temp, modelUrl, extraEnv);
    return launch(temp, [...argv, '-p', PROMPT], env);
  },
};

export interface OpenRun extends Run {
  /** Enters the prompt, as somebody at the keyboard does. */
  type(): Promise<void>;
}

/** Claude Code on a terminal, past the questions of its first start. It stays until it is told to go. */
export function openClaudeCode(temp: TempBase, modelUrl: string): OpenRun {
  const { argv, env } = claudeCode(temp, modelUrl, { TERM: 'xterm-256color' });
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const settings = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['none'], rejected: [] },
    projects: { [temp.scratch]: trusted },
  };
  mkdirSync(join(temp.root, 'home'), { recursive: true });
  writeFileSync(join(temp.root, 'home/.claude.json'), JSON.stringify(settings));
  // script(1) gives it the terminal.
  const command = argv.map((word) => `'${word}'`).join(' ');
  const terminal = `stty rows 40 cols 140; exec ${command}`;
  const run = launch(temp, ['script', '-qfec', terminal, '/dev/null'], env, 'pipe');
  return {
    ...run,
    type: async () => {
      run.child.stdin?.write(PROMPT);
      // Text and return in one piece count as pasted.
      await delay(KEYBOARD_MS);
      run.child.stdin?.write('\r');
    },
  };
}

export const codexHarness: Harness = {
  name: 'Codex',
  resourceReader: 'read_mcp_resource',
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
# The first turn waits for the server, however slow the box is.
required = true
startup_timeout_sec = 60
`,
    );
    return launch(temp, [codex, 'exec', '--skip-git-repo-check', PROMPT], extraEnv);
  },
};

function launch(
  temp: TempBase,
  argv: readonly string[],
  extraEnv: Readonly<Record<string, string>>,
  stdin: 'ignore' | 'pipe' = 'ignore',
): Run {
  const home = join(temp.root, 'home');
  mkdirSync(home, { recursive: true });
  const [file = '', ...args] = argv;
  const child = spawn(file, args, {
    cwd: temp.scratch,
    env: { PATH: process.env.PATH ?? '', HOME: home, ...extraEnv },
    stdio: [stdin, 'pipe', 'pipe'],
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
