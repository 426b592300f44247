import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, type Report, RunnerError } from '../../index.ts';
import { pageOf } from '../page/page.tsx';

/** Writes the page, readable for its owner alone, since logs are private; gives what goes to stdout. */
export async function writePage(report: Report, file: string, cwd: string): Promise<string> {
  const page = pageOf(report);
  if (file === '-') return page;
  const path = resolve(cwd, file);
  try {
    writeFileSync(path, page, { mode: 0o600 });
  } catch (error) {
    throw new RunnerError('system', `cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
  return `${path}\n`;
}
