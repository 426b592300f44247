import { describe, expect, test } from 'vitest';
import {
  type LaunchQuery,
  launchLine,
  resolveWindowsWorker,
} from '../../../runner-core/platform/windows-launch.ts';
import { parseNpmShim } from '../../../runner-core/platform/windows-npm-shim.ts';
import { npmShim } from '../../windows/npm-shim.ts';

const GIT_BASH = 'C:\\Program Files\\Git\\bin\\bash.exe';
const WSL = 'C:\\Windows\\System32\\bash.exe';

/** A disk with these files, names without regard to case. */
function on(
  files: readonly string[],
  env: Record<string, string> = {},
  texts: Record<string, string> = {},
): LaunchQuery {
  const there = new Set([...files, ...Object.keys(texts)].map((path) => path.toLowerCase()));
  return {
    env: { SystemRoot: 'C:\\Windows', PATH: 'C:\\Windows\\System32;C:\\bin', ...env },
    cwd: 'C:\\work',
    isFile: (path) => there.has(path.toLowerCase()),
    readText: (path) => texts[path],
  };
}

function argvOf(argv: readonly string[], query: LaunchQuery): string[] {
  return resolveWindowsWorker(argv, query).argv;
}

describe('a program is found', () => {
  test('by PATHEXT, in the order of that, and never as the shell script beside its shim', () => {
    const query = on(['C:\\bin\\codex', 'C:\\bin\\codex.cmd', 'C:\\bin\\codex.ps1'], {
      PATHEXT: '.PS1;.EXE;.CMD',
    });
    expect(argvOf(['codex', 'x'], query)).toEqual(['C:\\bin\\codex.cmd', 'x']);
  });

  test('in the order of PATH, whatever the spelling of that', () => {
    const query = on(['C:\\a\\x.exe', 'C:\\b\\x.exe']);
    expect(argvOf(['x'], { ...query, env: { Path: '"C:\\b";C:\\a' } })).toEqual(['C:\\b\\x.exe']);
  });

  test('from the worker’s folder where it is a path, with or without its extension', () => {
    const query = on(['C:\\work\\t\\x.exe', 'D:\\y.com']);
    expect(argvOf(['t/x'], query)).toEqual(['C:\\work\\t\\x.exe']);
    expect(argvOf(['.\\t\\x.exe'], query)).toEqual(['C:\\work\\t\\x.exe']);
    expect(argvOf(['D:\\y'], query)).toEqual(['D:\\y.com']);
  });

  test('never in the working directory where it is only a name', () => {
    expect(() => argvOf(['x'], on(['C:\\work\\x.exe']))).toThrow('worker "x" was not found on PATH');
  });

  test('or said not to be there', () => {
    expect(() => argvOf(['t\\x'], on([]))).toThrow('worker "t\\\\x" does not exist');
  });
});

describe('a POSIX shell', () => {
  test('is Git Bash for a bare name, never the launcher of WSL', () => {
    const query = on([WSL, `\\\\?\\${WSL}`, GIT_BASH]);
    for (const name of ['bash', 'sh', 'BASH.EXE', WSL, 'C:/windows/SYSTEM32/bash.exe', `\\\\?\\${WSL}`])
      expect(resolveWindowsWorker([name, '-c', 'x'], query)).toEqual({
        argv: [GIT_BASH, '-c', 'x'],
        posixShell: GIT_BASH,
      });
  });

  test('is the one that is set, before any other; that from PATH last', () => {
    const files = [WSL, GIT_BASH, 'D:\\mine\\bash.exe', 'E:\\theirs\\bash.exe', 'C:\\bin\\sh.exe'];
    const theirs = { CLAUDE_CODE_GIT_BASH_PATH: 'E:\\theirs\\bash.exe' };
    expect(argvOf(['bash'], on(files, { CE_PEER_BASH: ' D:\\mine\\bash.exe ', ...theirs }))).toEqual([
      'D:\\mine\\bash.exe',
    ]);
    expect(argvOf(['bash'], on(files, theirs))).toEqual(['E:\\theirs\\bash.exe']);
    expect(argvOf(['bash'], on([WSL, 'C:\\bin\\sh.exe']))).toEqual(['C:\\bin\\sh.exe']);
  });

  test('that is set but missing, or WSL’s, is passed over', () => {
    expect(argvOf(['bash'], on([WSL, GIT_BASH], { CE_PEER_BASH: WSL }))).toEqual([GIT_BASH]);
    expect(argvOf(['bash'], on([GIT_BASH], { CE_PEER_BASH: 'C:\\no.exe' }))).toEqual([GIT_BASH]);
  });

  test('is looked for in the user’s programs too', () => {
    const local = 'C:\\Users\\u\\Local\\Programs\\Git\\usr\\bin\\bash.exe';
    expect(argvOf(['bash'], on([local], { LOCALAPPDATA: 'C:\\Users\\u\\Local' }))).toEqual([local]);
  });

  test('is never an alias of the Store, which is WSL’s', () => {
    const alias = 'C:\\Users\\u\\AppData\\Local\\Microsoft\\WindowsApps\\bash.exe';
    expect(() => argvOf(['bash'], on([alias], { PATH: alias.slice(0, -9) }))).toThrow(/needs a POSIX shell/);
  });

  test('that is named by its path is kept', () => {
    expect(argvOf(['D:\\p\\bash.exe'], on([GIT_BASH, 'D:\\p\\bash.exe']))).toEqual(['D:\\p\\bash.exe']);
  });

  test('that is missing is said to be, with what to do', () => {
    expect(() => argvOf(['bash'], on([WSL]))).toThrow(/^worker "bash" needs a POSIX shell.*CE_PEER_BASH/);
  });

  test('runs a bare script, which stays the worker on record', () => {
    const query = on(['C:\\work\\x.sh', GIT_BASH]);
    const resolved = resolveWindowsWorker(['./x.sh', 'a b'], query);
    expect(resolved).toEqual({ argv: ['C:\\work\\x.sh', 'a b'], posixShell: GIT_BASH });
    expect(launchLine(resolved.argv, query)).toEqual({
      application: GIT_BASH,
      commandLine: `"${GIT_BASH}" C:\\work\\x.sh "a b"`,
    });
  });
});

describe('a program of Cygwin’s or MSYS2’s', () => {
  const args = ['*.md', "it's", 'a\\\\b c'];
  const theirs = `"*.md" "it's" "a\\\\\\\\b c"`;
  const ours = `*.md it's "a\\\\b c"`;
  const there = [
    'C:\\bin\\x.exe',
    'C:\\git\\grep.exe',
    'C:\\git\\msys-2.0.dll',
    'C:\\cyg\\sed.exe',
    'C:\\cyg\\cygwin1.dll',
  ];

  test.each([
    [GIT_BASH, theirs],
    ['C:\\bin\\env.exe', theirs],
    ['C:\\git\\grep.exe', theirs],
    ['C:\\cyg\\sed.exe', theirs],
    ['C:\\bin\\x.exe', ours],
  ])('is known as one, and gets its arguments quoted for it: %s', (program, quoted) => {
    expect(launchLine([program, ...args], on(there)).commandLine).toBe(`"${program}" ${quoted}`);
  });

  test('runs a bare script with the arguments quoted for it', () => {
    const query = on([GIT_BASH]);
    expect(launchLine(["C:\\it's\\x.sh", '*'], query).commandLine).toBe(
      `"${GIT_BASH}" "C:\\\\it's\\\\x.sh" "*"`,
    );
  });
});

describe('env before a shell', () => {
  const query = on(['C:\\bin\\env.exe', 'C:\\bin\\x.exe', GIT_BASH, WSL]);
  const ENV = 'C:\\bin\\env.exe';

  test.each([
    [['A=1', 'bash', 'x.sh']],
    [['-i', 'A=1', 'B=', 'bash', '-c', 'bash']],
    [['-u', 'bash', 'bash']],
    [['-C', 'C:\\x', '-ubash', '--unset=A', '--chdir', 'd', 'bash']],
    [['-iv', '--', '-A=1', 'bash']],
    [['-', 'A=1', 'bash']],
    [['--ignore-signal=INT', '--debug', 'bash']],
  ])('is given the absolute shell: %j', (rest) => {
    const at = rest.findLastIndex((word, index) => word === 'bash' && rest[index - 1] !== '-c');
    const { argv, posixShell } = resolveWindowsWorker(['env', ...rest], query);
    expect(argv).toEqual([ENV, ...rest.with(at, GIT_BASH)]);
    expect(posixShell).toBe(GIT_BASH);
  });

  test.each([
    ['C:\\Program Files\\Git\\usr\\bin\\env.exe', GIT_BASH],
    ['D:\\msys\\usr\\bin\\env.exe', 'D:\\msys\\usr\\bin\\bash.exe'],
  ])('is found with the shell where PATH has none: %s', (env, shell) => {
    const without = on([env, shell], shell === GIT_BASH ? {} : { CE_PEER_BASH: shell });
    expect(resolveWindowsWorker(['env', 'A=1', 'bash', 'x.sh'], without)).toEqual({
      argv: [env, 'A=1', shell, 'x.sh'],
      posixShell: shell,
    });
    expect(() => argvOf(['C:\\no\\env', 'bash'], without)).toThrow(/does not exist/);
    expect(() => argvOf(['env', 'bash'], on([GIT_BASH]))).toThrow('worker "env" was not found on PATH');
  });

  test('leaves other commands as they are', () => {
    for (const rest of [['A=1', 'x', 'bash'], ['A=1'], ['-u'], ['--', '-x']])
      expect(resolveWindowsWorker(['env', ...rest], query)).toEqual({
        argv: [ENV, ...rest],
        posixShell: undefined,
      });
  });

  test.each([['-S'], ['-Sbash x'], ['--split-string=bash'], ['-0'], ['--null'], ['-x'], ['--what'], ['-iS']])(
    'with %s is refused',
    (option) => {
      expect(() => argvOf(['env', option, 'bash'], query)).toThrow(/^worker "env" has the env option/);
    },
  );
});

const SHIM = npmShim('node_modules\\@x\\t\\cli.js');

describe('a shim of npm', () => {
  test('is taken for what it starts', () => {
    expect(parseNpmShim(SHIM)).toEqual({ nodeArgs: [], script: 'node_modules\\@x\\t\\cli.js' });
    expect(parseNpmShim(SHIM.replace('"%_prog%"  ', '"%_prog%"  --no-warnings --x=1 '))?.nodeArgs).toEqual([
      '--no-warnings',
      '--x=1',
    ]);
  });

  test('with a single line more, or less, is a batch file like any other', () => {
    for (const text of [
      `${SHIM}calc`,
      SHIM.replace('GOTO start', 'GOTO start & calc'),
      SHIM.replace(' %*', ''),
      SHIM.replace('node"', 'python"'),
      '@echo off',
      '',
    ])
      expect(parseNpmShim(text)).toBeUndefined();
  });

  test('is passed by: node gets the script and every argument', () => {
    const query = on(['C:\\bin\\node.exe'], {}, { 'C:\\bin\\t.cmd': SHIM });
    const { argv } = resolveWindowsWorker(['t', '100%\n"&calc'], query);
    expect(argv).toEqual(['C:\\bin\\t.cmd', '100%\n"&calc']);
    expect(launchLine(argv, query)).toEqual({
      application: 'C:\\bin\\node.exe',
      commandLine: '"C:\\bin\\node.exe" C:\\bin\\node_modules\\@x\\t\\cli.js "100%\n\\"&calc"',
    });
  });

  test('without a node to be found is run as it is', () => {
    const query = on([], {}, { 'C:\\bin\\t.cmd': SHIM });
    expect(launchLine(['C:\\bin\\t.cmd', 'a'], query).application).toBe('C:\\Windows\\System32\\cmd.exe');
  });
});

describe('a batch file', () => {
  const query = on(['C:\\bin\\x.bat', 'C:\\100%\\x.cmd']);

  test('is run by cmd.exe of the system, not by what ComSpec says', () => {
    const { application, commandLine } = launchLine(['C:\\bin\\x.bat', 'a b'], {
      ...query,
      env: { ComSpec: 'D:\\evil.exe' },
    });
    expect(application).toBe('C:\\Windows\\System32\\cmd.exe');
    expect(commandLine).toContain('/d /e:on /v:off /s /c ""C:\\bin\\x.bat" "a b""');
  });

  test('with an argument that cannot arrive is refused, and the argument named', () => {
    expect(() => argvOf(['x', 'ok', '%PATH%'], query)).toThrow(/its argument 2 holds "%"/);
  });

  test.each(['C:\\bin\\x.bat.', 'C:\\bin\\x.bat ', 'C:\\bin\\x.cmd . .'])(
    'under a name of which Windows leaves off the end is refused: %j',
    (program) => {
      expect(() => argvOf([program, '"&calc'], on([program]))).toThrow(/ends in a dot or a blank/);
    },
  );

  test('is refused in a folder that cmd.exe does not enter: it would go on in another', () => {
    for (const cwd of ['\\\\server\\share\\work', '\\\\?\\C:\\work'])
      expect(() => argvOf(['C:\\bin\\x.bat'], { ...query, cwd })).toThrow(
        /in the Windows folder.*cwd on a drive/,
      );
  });

  test('in a folder with a percent sign is refused', () => {
    expect(() => argvOf(['C:\\100%\\x.cmd'], query)).toThrow(/path holds "%"/);
  });
});
