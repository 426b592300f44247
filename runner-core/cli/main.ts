import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { writeAll } from './terminal.ts';

declare const __VERSION__: string;

async function main(args: readonly string[]): Promise<number> {
  const [name] = args;
  if (name === '__supervise') {
    // Not through the public surface: a supervisor lives long, and needs nothing of the operations.
    const { runSupervisor } = await import('../supervisor/main.ts');
    await runSupervisor();
    return 0;
  }
  if (name === '__engine') {
    const { superviseInside } = await import('../engine/inside.ts');
    return superviseInside(args[1] ?? '');
  }
  if (name === 'mcp') {
    // Beside this file; left to run as long as its client does.
    const server = new URL('./server.mjs', import.meta.url);
    if (existsSync(server)) {
      await import(server.href);
      return -1;
    }
    complain([`mcp needs ${fileURLToPath(server)}; copy it there, or install the whole package`]);
    return 1;
  }
  if (name === '--version' || name === '-V' || name === '-v') {
    writeAll(1, Buffer.from(`${__VERSION__}\n`));
    return 0;
  }
  const entry = fileURLToPath(import.meta.url);
  const { quickly } = await import('./quick.ts');
  const { stdout, stderr, exitCode } =
    (await quickly(args, entry)) ?? (await (await import('./dispatch.ts')).answer(args, entry));
  complain(stderr);
  writeAll(1, Buffer.from(stdout));
  return exitCode;
}

function complain(lines: readonly string[]): void {
  try {
    writeAll(2, Buffer.from(lines.map((line) => `peer-jobs: ${line}\n`).join('')));
  } catch {
    // Nobody is told: the exit code is all that is left.
  }
}

void main(process.argv.slice(2)).then(
  (code) => {
    if (code >= 0) process.exit(code);
  },
  (error: unknown) => {
    complain([`cannot write the answer: ${error instanceof Error ? error.message : String(error)}`]);
    process.exit(1);
  },
);
