/** Where programs are looked for, and what is installed beside it. */
import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { platform } from '../../platform/index.ts';
import type { Caller } from '../operation.ts';
import { type Finding, note, ok, warning } from './finding.ts';

/** What every account has; a client that starts a server without the user's profile leaves it with no more. */
const OF_THE_SYSTEM = /^(\/usr(\/local)?)?\/s?bin\/?$|^[a-z]:\\windows(\\|$)/i;

/** Where installers put tools for one user. */
const OF_THE_USER =
  platform.kind === 'windows'
    ? ['AppData/Roaming/npm', '.cargo/bin', 'scoop/shims']
    : [
        '.local/bin',
        'bin',
        '.cargo/bin',
        'go/bin',
        '.bun/bin',
        '.deno/bin',
        '.volta/bin',
        '.npm-global/bin',
        '.pyenv/shims',
        '.rbenv/shims',
        '.asdf/shims',
        '.local/share/mise/shims',
      ];
const OF_PACKAGE_MANAGERS =
  platform.kind === 'windows'
    ? []
    : ['/opt/homebrew/bin', '/home/linuxbrew/.linuxbrew/bin', '/usr/local/bin'];

const CURE = 'Name a program by its absolute path, or set PATH in the env of the job or of the server.';

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The PATH that a worker's program is looked for in, and folders with tools that it leaves out. */
export function searchPathFindings({ env }: Caller): Finding[] {
  const path = env.PATH ?? env.Path;
  if (!path) return [warning('PATH', 'is not set: only /bin and /usr/bin are searched for programs', CURE)];
  const folders = path.split(delimiter).filter(Boolean);
  const home = env.HOME || env.USERPROFILE || homedir();
  const beside = [...OF_THE_USER.map((folder) => join(home, folder)), ...OF_PACKAGE_MANAGERS].filter(
    (folder) => !folders.includes(folder) && isFolder(folder),
  );
  const searched = ok('PATH', `programs are searched in ${folders.join(delimiter)}`);
  if (beside.length === 0) return [searched];
  const detail = `not searched, though there: ${beside.join(', ')}`;
  return [
    searched,
    // Somebody who has chosen a PATH knows what is not in it.
    folders.every((folder) => OF_THE_SYSTEM.test(folder))
      ? warning('PATH', detail, CURE)
      : note('PATH', detail),
  ];
}
