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
  if (name === 'mcp') {
    // Beside this file; left to run as long as its client does.
    await import(new URL('./server.mjs', import.meta.url).href);
    return -1;
  }
  if (name === '--version' || name === '-V') {
    writeAll(1, Buffer.from(`${__VERSION__}\n`));
    return 0;
  }
  const { answer } = await import('./dispatch.ts');
  const { stdout, stderr, exitCode } = await answer(args, fileURLToPath(import.meta.url));
  writeAll(1, Buffer.from(stdout));
  writeAll(2, Buffer.from(stderr.map((line) => `peer-jobs: ${line}\n`).join('')));
  return exitCode;
}

void main(process.argv.slice(2)).then((code) => {
  if (code >= 0) process.exit(code);
});
