/**
 * The `.cmd` files that npm puts on PATH (github.com/npm/cmd-shim) only start node with a script. One that is exactly
 * that is not run at all: node is started with the script instead, so that arguments need not get through cmd.exe.
 */

export interface NpmShim {
  /** Options for node itself. */
  readonly nodeArgs: readonly string[];
  /** From the folder of the shim. */
  readonly script: string;
}

/** All that may stand in a shim beside the line that starts the script, in lower case without blanks. */
const KNOWN_LINES = new Set(
  [
    '@echo off',
    'goto start',
    ':find_dp0',
    'set dp0=%~dp0',
    'exit /b',
    ':start',
    '@setlocal',
    'setlocal',
    'call :find_dp0',
    'if exist "%dp0%\\node.exe" (',
    'set "_prog=%dp0%\\node.exe"',
    ') else (',
    'set "_prog=node"',
    'set pathext=%pathext:;.js;=;%',
    ')',
    'endlocal',
    'exit /b %errorlevel%',
  ].map((line) => line.replaceAll(' ', '')),
);

const START =
  /^(?:endlocal & goto #_undefined_# 2>nul \|\| title %comspec% & )?"%_prog%"((?: +-[\w=-]+)*) +"%dp0%\\([^"%]+)" +%\*$/i;

/** What a shim starts, or undefined where the text is not plainly one. */
export function parseNpmShim(text: string): NpmShim | undefined {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const unknown = lines.filter((line) => !KNOWN_LINES.has(line.replaceAll(' ', '').toLowerCase()));
  const [, nodeArgs, script] = START.exec(unknown[0] ?? '') ?? [];
  if (unknown.length !== 1 || nodeArgs === undefined || script === undefined) return undefined;
  if (!lines.some((line) => line.toLowerCase() === 'set "_prog=node"')) return undefined;
  return { nodeArgs: nodeArgs.split(' ').filter(Boolean), script };
}
