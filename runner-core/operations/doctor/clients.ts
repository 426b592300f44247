/** The agents that could use the server: found or not, told of it or not. */
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { platform } from '../../platform/index.ts';
import type { Caller } from '../operation.ts';
import { type Finding, inWordsOf, note, ok, problem } from './finding.ts';

/** Larger settings are not read. */
const SETTINGS_MAX_BYTES = 32 * 1024 * 1024;
const ENDINGS = platform.kind === 'windows' ? ['.exe', '.cmd', '.bat', ''] : [''];

interface Client {
  readonly name: string;
  readonly program: string;
  /** Files that name its servers. */
  settings(home: string, caller: Caller): string[];
  /** The command that adds ours. */
  add(entry: string): string;
}

const CLIENTS: readonly Client[] = [
  {
    name: 'Claude Code',
    program: 'claude',
    settings: (home, { cwd, env }) => [
      join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
      join(cwd, '.mcp.json'),
    ],
    add: (entry) => `claude mcp add --scope user peer-jobs -- node ${quoted(entry)} mcp`,
  },
  {
    name: 'Codex',
    program: 'codex',
    settings: (home, { env }) => [join(env.CODEX_HOME || join(home, '.codex'), 'config.toml')],
    add: (entry) => `codex mcp add peer-jobs -- node ${quoted(entry)} mcp`,
  },
];

function quoted(path: string): string {
  if (/^[\w./:\\-]+$/.test(path)) return path;
  return inWordsOf({ posix: `'${path.replaceAll("'", `'\\''`)}'`, windows: `"${path}"` });
}

export function findProgram(name: string, env: Caller['env']): string | undefined {
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter(Boolean);
  return folders
    .flatMap((folder) => ENDINGS.map((ending) => join(folder, name + ending)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return statSync(path).isFile();
      } catch {
        // Not this one.
        return false;
      }
    });
}

function textOf(path: string): string {
  try {
    return statSync(path).size > SETTINGS_MAX_BYTES ? '' : readFileSync(path, 'utf8');
  } catch {
    // Not there, or not ours to read.
    return '';
  }
}

/** Programs of ours that the settings name, in JSON and TOML alike: strings that end in one of our file names. */
export function programsIn(settings: string): string[] {
  return [...settings.matchAll(/["']((?:[^"'\n]*[/\\])?(?:peer-jobs|server)\.mjs)["']/g)]
    .map(([, path = '']) => path.replaceAll('\\\\', '\\'))
    .filter((path) => path.includes('peer-jobs'));
}

export function clientFindings(caller: Caller): Finding[] {
  const home = caller.env.HOME || caller.env.USERPROFILE || homedir();
  return CLIENTS.map((client) => clientFinding(client, home, caller));
}

function clientFinding(client: Client, home: string, caller: Caller): Finding {
  const program = findProgram(client.program, caller.env);
  const check = `client ${client.program}`;
  const add = client.add(caller.entry);
  for (const path of client.settings(home, caller)) {
    const text = textOf(path);
    if (!/["'[.]peer-jobs["'\]]|peer-jobs\.mjs/.test(text)) continue;
    const missing = programsIn(text).find((named) => !existsSync(resolve(caller.cwd, named)));
    if (missing !== undefined) {
      return problem(
        check,
        `${path} names ${missing}, which is not there: ${client.name} cannot start the server`,
        `Remove that entry, then: ${add}`,
      );
    }
    return ok(check, `${client.name} is told of the server in ${path}`);
  }
  if (program === undefined) return note(check, `${client.name} is not on PATH`, `Once it is there: ${add}`);
  return note(check, `${program} is not told of the server yet`, add);
}

export function ownProgramFinding(caller: Caller): Finding {
  const found = findProgram('peer-jobs', caller.env);
  return found === undefined
    ? note(
        'program',
        'peer-jobs is not on PATH',
        `${inWordsOf({ posix: `ln -s ${quoted(caller.entry)} ~/.local/bin/peer-jobs; or, `, windows: '' })}in the folder of its package.json: npm install -g .`,
      )
    : ok('program', `peer-jobs on PATH is ${found}`);
}
