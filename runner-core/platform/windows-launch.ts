/** From a worker's argv to what CreateProcessW is given. Pure: the disk is asked through the query. */
import { win32 as path } from 'node:path';
import { RunnerError } from '../errors.ts';
import {
  batchArgumentProblem,
  batchCommandLine,
  commandLine,
  commandLineProblem,
  quoteArgument,
  quoteForPosix,
} from './windows-command-line.ts';
import { variableOf } from './windows-environment.ts';
import { parseNpmShim } from './windows-npm-shim.ts';
import {
  findPosixShell,
  foldersOnPath,
  isEnvName,
  isPath,
  isShellName,
  isShellScript,
  preferredShell,
  rewriteEnvCommand,
  type ShellQuery,
} from './windows-shell.ts';

export interface LaunchQuery extends ShellQuery {
  /** The text of a small file, or undefined where it cannot be read. */
  readText(path: string): string | undefined;
}

export interface ResolvedWindowsWorker {
  /** Its program found; scripts and shims stay what the caller named. */
  readonly argv: string[];
  /** The POSIX shell that will run it, or that its env(1) will start. */
  readonly posixShell: string | undefined;
}

export interface LaunchLine {
  readonly application: string;
  readonly commandLine: string;
}

/** What CreateProcessW can start, or cmd.exe for it. Other entries of PATHEXT belong to the shell's associations. */
const STARTABLE = ['.com', '.exe', '.bat', '.cmd'];

function extensions(env: ShellQuery['env']): string[] {
  const listed = (variableOf(env, 'PATHEXT') ?? '').toLowerCase().split(';');
  const usable = listed.filter((extension) => STARTABLE.includes(extension));
  return usable.length > 0 ? usable : STARTABLE;
}

/** Beside a shim `codex.cmd` npm puts a shell script `codex`: a name without an extension is never itself the program. */
function spellings(program: string, env: ShellQuery['env']): string[] {
  const extended = extensions(env).map((extension) => program + extension);
  return path.extname(program) === '' ? extended : [program, ...extended];
}

function findProgram(program: string, query: LaunchQuery): string {
  const { env, cwd, isFile } = query;
  if (isPath(program)) {
    const full = path.resolve(cwd, program);
    const found = [...spellings(full, env), full].find(isFile);
    if (found !== undefined) return found;
    throw preflight(program, 'does not exist or is not a regular file; check the path');
  }
  const found = foldersOnPath(env)
    .flatMap((folder) => spellings(path.resolve(cwd, folder, program), env))
    .find(isFile);
  if (found !== undefined) return found;
  throw preflight(program, 'was not found on PATH; give its absolute path or install it');
}

function preflight(program: string, problem: string): RunnerError {
  return new RunnerError('preflight', `worker ${JSON.stringify(program)} ${problem}`);
}

/** Finds the program, and proves that it can be launched. Throws a preflight error that says what is wrong. */
export function resolveWindowsWorker(argv: readonly string[], query: LaunchQuery): ResolvedWindowsWorker {
  const [program = '', ...rest] = argv;
  try {
    const resolved = resolveArgv(program, rest, query);
    launchLine(resolved.argv, query);
    return resolved;
  } catch (error) {
    if (!(error instanceof RunnerError) || error.message.startsWith('worker ')) throw error;
    throw preflight(program, error.message);
  }
}

function resolveArgv(program: string, rest: readonly string[], query: LaunchQuery): ResolvedWindowsWorker {
  if (isShellName(program)) {
    const posixShell = preferredShell(program, query);
    return { argv: [posixShell, ...rest], posixShell };
  }
  if (isEnvName(program)) return rewriteEnvCommand([findEnv(program, query), ...rest], query);
  const found = findProgram(program, query);
  return { argv: [found, ...rest], posixShell: isShellScript(found) ? findPosixShell(query) : undefined };
}

/** Git for Windows puts neither its shell nor env(1) on PATH: env lies with the shell, or where that one is only a launcher. */
function findEnv(program: string, query: LaunchQuery): string {
  try {
    return findProgram(program, query);
  } catch (error) {
    if (isPath(program)) throw error;
    const folder = path.dirname(findPosixShell(query));
    const beside = [folder, path.join(folder, '..', 'usr', 'bin')].map((place) =>
      path.join(place, 'env.exe'),
    );
    const found = beside.find(query.isFile);
    if (found === undefined) throw error;
    return found;
  }
}

/** What to start for a resolved argv. Throws a preflight error for arguments that could not arrive as they are. */
export function launchLine(argv: readonly string[], query: LaunchQuery): LaunchLine {
  const [program = '', ...args] = argv;
  // A batch file under such a name would get its arguments unguarded (CVE-2024-43402).
  if (/[. ]$/.test(program)) {
    throw preflight(program, 'ends in a dot or a blank, which Windows leaves off: give the name of the file');
  }
  if (isShellScript(program)) return direct(findPosixShell(query), [program, ...args], query);
  if (!/\.(cmd|bat)$/i.test(program)) return direct(program, args, query);
  const shim = parseNpmShim(query.readText(program) ?? '');
  const node = shim && nodeFor(program, query);
  if (shim && node !== undefined) {
    const script = path.join(path.dirname(program), shim.script);
    return direct(node, [...shim.nodeArgs, script, ...args], query);
  }
  return throughCmd(program, args, query);
}

function direct(application: string, args: readonly string[], query: LaunchQuery): LaunchLine {
  const quote = isPosixProgram(application, query) ? quoteForPosix : quoteArgument;
  return checked({ application, commandLine: commandLine(application, args, quote) }, false);
}

/** What programs of Cygwin's and MSYS2's need beside them. A shell or env may be a launcher of one that lies elsewhere. */
const POSIX_RUNTIMES = ['msys-2.0.dll', 'cygwin1.dll'];

function isPosixProgram(program: string, { isFile }: LaunchQuery): boolean {
  const beside = POSIX_RUNTIMES.map((runtime) => path.join(path.dirname(program), runtime));
  return isShellName(program) || isEnvName(program) || beside.some(isFile);
}

function nodeFor(shim: string, query: LaunchQuery): string | undefined {
  const beside = path.join(path.dirname(shim), 'node.exe');
  if (query.isFile(beside)) return beside;
  return foldersOnPath(query.env)
    .map((folder) => path.resolve(query.cwd, folder, 'node.exe'))
    .find(query.isFile);
}

function throughCmd(batch: string, args: readonly string[], query: LaunchQuery): LaunchLine {
  if (/[%\r\n"]/.test(batch))
    throw preflight(batch, 'is a batch file whose path holds "%"; move it elsewhere');
  if (/^[\\/]{2}/.test(query.cwd)) {
    throw preflight(
      batch,
      `is a batch file, which cmd.exe would run in the Windows folder, since it enters no ${query.cwd}; give a cwd on a drive`,
    );
  }
  for (const [index, argument] of args.entries()) {
    const problem = batchArgumentProblem(argument);
    if (problem !== undefined) {
      throw preflight(
        batch,
        `is a batch file, and its argument ${index + 1} ${problem}; name the program behind it instead`,
      );
    }
  }
  const root = variableOf(query.env, 'SystemRoot') || 'C:\\Windows';
  const application = path.join(root, 'System32', 'cmd.exe');
  return checked({ application, commandLine: batchCommandLine(application, batch, args) }, true);
}

function checked(line: LaunchLine, byCmd: boolean): LaunchLine {
  const problem = commandLineProblem(line.commandLine, byCmd);
  if (problem !== undefined) throw preflight(line.application, problem);
  return line;
}
