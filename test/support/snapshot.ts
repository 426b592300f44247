import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { listDirectory } from './read-job.ts';

/** Everything below a directory, itself included: path, kind, mode and size, one line each. Links are not followed. */
export function snapshotOf(root: string): string[] {
  const lines: string[] = [];
  const visit = (path: string): void => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) return;
    const kind = stat.isDirectory()
      ? 'dir'
      : stat.isSymbolicLink()
        ? `link to ${readlinkSync(path)}`
        : 'file';
    const size = stat.isFile() ? ` ${stat.size}` : '';
    lines.push(`${path.slice(root.length) || '.'} ${kind} ${(stat.mode & 0o7777).toString(8)}${size}`);
    if (stat.isDirectory()) for (const name of listDirectory(path)) visit(join(path, name));
  };
  visit(root);
  return lines;
}
