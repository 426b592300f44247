import { existsSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { RunnerError } from '../errors.ts';
import { NODE_PROGRAM_ENV } from '../limits.ts';

/** Where installers put node, for a program whose PATH does not say (an application started from a desktop). */
const USUAL_FOLDERS = ['/usr/local/bin', '/opt/homebrew/bin', '/usr/bin', 'C:\\Program Files\\nodejs'];

/**
 * The node that runs supervisors: this very program, unless it only contains one. Claude Desktop runs servers inside
 * itself, and starting it again would open a window. Throws `system` where there is none.
 */
export function nodeProgram(env: NodeJS.ProcessEnv = process.env, self: string = process.execPath): string {
  const configured = env[NODE_PROGRAM_ENV];
  if (configured) return configured;
  if (/^node(js)?(\.exe)?$/i.test(basename(self.replaceAll('\\', '/')))) return self;
  const folders = [...(env.PATH ?? '').split(delimiter).filter(Boolean), ...USUAL_FOLDERS];
  const found = folders
    .flatMap((folder) => [join(folder, 'node'), join(folder, 'node.exe')])
    .find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new RunnerError(
    'system',
    `${self} is not node, and there is none on PATH; install Node 20 or newer, or name it with ${NODE_PROGRAM_ENV} (the server's --node)`,
  );
}
