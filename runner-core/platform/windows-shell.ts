/**
 * Which POSIX shell runs `bash x.sh`, `env A=1 bash x.sh` and `x.sh` on Windows: Git Bash, never the WSL launcher in
 * System32, which would run the script in another system. Pure: the disk is asked through `isFile`.
 */
import { win32 as path } from 'node:path';
import { RunnerError } from '../errors.ts';
import { variableOf } from './windows-environment.ts';

export interface ShellQuery {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  isFile(path: string): boolean;
}

/** Variables that name the shell to use, the strongest first. */
const SHELL_VARIABLES = ['CE_PEER_BASH', 'CLAUDE_CODE_GIT_BASH_PATH'];
const SHELL_NAMES = new Set(['bash', 'bash.exe', 'sh', 'sh.exe']);
const SHELLS_ON_PATH = ['bash.exe', 'bash', 'sh.exe', 'sh'];

function refuse(problem: string): RunnerError {
  return new RunnerError('preflight', problem);
}

function nameOf(program: string): string {
  return path.basename(program).toLowerCase();
}

export function isShellName(program: string): boolean {
  return SHELL_NAMES.has(nameOf(program));
}

export function isEnvName(program: string): boolean {
  return ['env', 'env.exe'].includes(nameOf(program));
}

export function isShellScript(program: string): boolean {
  return /\.(sh|bash)$/i.test(program);
}

/** With a folder or a drive in it; anything else is a name to look up. */
export function isPath(program: string): boolean {
  return /[\\/]/.test(program) || /^[A-Za-z]:/.test(program);
}

/** A bash or sh in the system's own folders, or among the aliases of the Store, starts the Windows Subsystem for Linux. */
export function isWslLauncher(program: string, env: ShellQuery['env']): boolean {
  const root = path.resolve(variableOf(env, 'SystemRoot') || 'C:\\Windows').toLowerCase();
  const parent = path
    .dirname(path.resolve(program))
    .replace(/^\\\\[?.]\\/, '')
    .toLowerCase();
  return (
    isShellName(program) &&
    (['system32', 'sysnative', 'syswow64'].some((folder) => parent === path.join(root, folder)) ||
      parent.endsWith('\\microsoft\\windowsapps'))
  );
}

function installFolders(env: ShellQuery['env']): string[] {
  const programs = [
    variableOf(env, 'ProgramW6432'),
    variableOf(env, 'ProgramFiles') || 'C:\\Program Files',
    variableOf(env, 'ProgramFiles(x86)') || 'C:\\Program Files (x86)',
  ].filter((folder): folder is string => folder !== undefined && folder !== '');
  const local = variableOf(env, 'LOCALAPPDATA');
  const roots = local ? [...programs, path.join(local, 'Programs')] : programs;
  return roots.flatMap((root) => [`${root}\\Git\\bin\\bash.exe`, `${root}\\Git\\usr\\bin\\bash.exe`]);
}

export function foldersOnPath(env: ShellQuery['env']): string[] {
  return (variableOf(env, 'PATH') ?? '')
    .split(';')
    .map((folder) => folder.trim().replace(/^"(.*)"$/, '$1'))
    .filter((folder) => folder !== '');
}

/** The shell for a bare `bash` or `sh`. Throws `preflight` where there is none but WSL's. */
export function findPosixShell(query: ShellQuery): string {
  const { env, cwd, isFile } = query;
  const named = SHELL_VARIABLES.flatMap((name) => variableOf(env, name)?.trim() || []);
  const onPath = foldersOnPath(env).flatMap((folder) =>
    SHELLS_ON_PATH.map((name) => path.join(folder, name)),
  );
  const found = [...named, ...installFolders(env), ...onPath]
    .map((candidate) => path.resolve(cwd, candidate))
    .find((candidate) => !isWslLauncher(candidate, env) && isFile(candidate));
  if (found !== undefined) return found;
  throw refuse(
    'needs a POSIX shell and there is none but perhaps WSL, which is not used; install Git for Windows, or set ' +
      'CE_PEER_BASH to the absolute path of a bash.exe',
  );
}

/** The shell that `program`, a bash or sh, stands for: an explicit path is kept unless it is the WSL launcher. */
export function preferredShell(program: string, query: ShellQuery): string {
  if (!isPath(program)) return findPosixShell(query);
  const explicit = path.resolve(query.cwd, program);
  if (!query.isFile(explicit)) throw refuse('does not exist or is not a regular file; check the path');
  return isWslLauncher(explicit, query.env) ? findPosixShell(query) : explicit;
}

/** Long options of env(1) that stand alone, and those whose operand is the next argument. */
const LONG_ALONE =
  /^--(ignore-environment|debug|list-signal-handling|(block|default|ignore)-signal(=.*)?|(unset|chdir)=.*)$/s;
const LONG_WITH_OPERAND = ['--unset', '--chdir'];

/** How many arguments an option of env(1) takes up. Throws `preflight` for options whose effect is not known here. */
function optionSpan(option: string): number {
  const unusable = (why: string): RunnerError =>
    refuse(`has the env option ${JSON.stringify(option)}, which ${why}`);
  if (/^--split-string(=|$)/.test(option)) throw unusable('is not supported; pass the words as arguments');
  if (option === '--null') throw unusable('cannot be combined with a command');
  if (LONG_WITH_OPERAND.includes(option)) return 2;
  if (option.startsWith('--')) {
    if (LONG_ALONE.test(option)) return 1;
    throw unusable('is unknown here; write it out, or put "--" before the assignments');
  }
  for (const [index, letter] of [...option].slice(1).entries()) {
    if (letter === 'u' || letter === 'C') return index + 2 < option.length ? 1 : 2;
    if (letter === 'S') throw unusable('is not supported; pass the words as arguments');
    if (letter === '0') throw unusable('cannot be combined with a command');
    if (letter !== 'i' && letter !== 'v') throw unusable('is unknown here; pass options one by one');
  }
  return 1;
}

/** Where in `env OPTION… NAME=VALUE… COMMAND` the command is; undefined where there is none. */
export function envCommandIndex(argv: readonly string[]): number | undefined {
  let optionsEnded = false;
  for (let at = 1; at < argv.length; ) {
    const word = argv[at] ?? '';
    if (!optionsEnded && (word === '-' || word === '--')) {
      optionsEnded = true;
      at += 1;
    } else if (!optionsEnded && word.startsWith('-')) {
      at += optionSpan(word);
    } else if (word.includes('=')) {
      optionsEnded = true;
      at += 1;
    } else {
      return at;
    }
  }
  return undefined;
}

/** Puts the absolute shell in place of a bash or sh that env(1) would start; other commands stay as they are. */
export function rewriteEnvCommand(
  argv: readonly string[],
  query: ShellQuery,
): { argv: string[]; posixShell: string | undefined } {
  const at = envCommandIndex(argv);
  const command = at === undefined ? undefined : argv[at];
  if (at === undefined || command === undefined || !isShellName(command)) {
    return { argv: [...argv], posixShell: undefined };
  }
  const posixShell = preferredShell(command, query);
  return { argv: argv.with(at, posixShell), posixShell };
}
