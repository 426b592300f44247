/** Stand-ins for Slurm's programs, first on a caller's PATH: each misbehaves, or gets in the way and hands on. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Cluster } from '../support/slurm-cluster.ts';
import type { TempBase } from '../support/temp-base.ts';

/** Variables for a caller that meets these shell scripts instead. In each, `real` runs the real program. */
export function inTheWay(
  cluster: Cluster,
  temp: TempBase,
  scripts: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const dir = join(temp.scratch, 'in-the-way');
  mkdirSync(dir);
  for (const [name, script] of Object.entries(scripts)) {
    const text = `#!/bin/sh\necho ${name} >>'${join(dir, 'called')}'\nreal() { PATH='${cluster.env.PATH}' ${name} "$@"; }\n${script}\n`;
    writeFileSync(join(dir, name), text, { mode: 0o755 });
  }
  return { PATH: [dir, cluster.env.PATH].join(delimiter) };
}

/** Names of the stand-ins that were run, in order. */
export function called(temp: TempBase): string[] {
  return readFileSync(join(temp.scratch, 'in-the-way', 'called'), 'utf8')
    .trim()
    .split('\n');
}
