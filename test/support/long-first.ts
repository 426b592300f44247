import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** They wait for long, which their size does not tell: begun late, each would keep a run from ending. */
const LONG: readonly string[] = [
  'test/faults/steps.test.ts',
  'test/process/unacknowledged.test.ts',
  'test/slurm/ending.test.ts',
  'test/slurm/forgetting.test.ts',
  'test/slurm/crowd.test.ts',
  'test/slurm/controller.test.ts',
  'test/slurm/requeue.test.ts',
  'test/slurm/nodes.test.ts',
];

/** Within a group of projects those come first, then the others as vitest has them: a project at a time, large files first. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const gone = LONG.filter((name) => !existsSync(join(root, name)));
    if (gone.length > 0) throw new Error(`long-first.ts names ${gone.join(', ')}: no such test`);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONG.indexOf(relative(root, moduleId).replaceAll('\\', '/'));
      return at < 0 ? LONG.length : at;
    };
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}
