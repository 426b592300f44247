import { parse } from 'node:path';

/**
 * Where this process is. A folder that was removed meanwhile (a worktree, say) has no name any more: then the one that
 * the shell knew it by, so that only what needs the folder fails, and says which.
 */
export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return process.env.PWD ?? parse(process.execPath).root;
  }
}
