import { describe, expect, test } from 'vitest';
import { slurmOptions } from '../../../runner-core/engine/slurm-options.ts';
import { start } from '../../../runner-core/operations/start.ts';
import { planFor } from '../../../runner-core/operations/start-plan.ts';

const accepts = (value: unknown): boolean => slurmOptions.safeParse(value).success;

describe('what a start asks of Slurm', () => {
  test.each([
    {},
    { partition: 'main' },
    { partition: 'gpu,long-2' },
    { constraint: 'intel&gpu' },
    { constraint: '[rack1|rack2]' },
    { constraint: '(a&b)|c*2' },
    { time_limit_secs: 1, memory_mb: 1, cpus: 1, gpus: 8 },
  ])('is taken: %j', (value) => {
    expect(accepts(value)).toBe(true);
  });

  test.each([
    { partition: '' },
    { partition: '-p' },
    { partition: 'a,,b' },
    { partition: 'a b' },
    { partition: 'a\n--uid=0' },
    { partition: 'a=b' },
    { partition: 'a;b' },
    { partition: 'x'.repeat(257) },
    { constraint: '--x' },
    { constraint: 'a b' },
    { constraint: 'a\nb' },
    { constraint: '$(id)' },
    { constraint: 'a"b' },
    { cpus: 0 },
    { cpus: -1 },
    { cpus: 1.5 },
    { cpus: 1e9 },
    { gpus: '1' },
    { memory_mb: Number.POSITIVE_INFINITY },
    { time_limit_secs: 1e12 },
    { uid: 0 },
    { wrap: 'id' },
  ])('is refused: %j', (value) => {
    expect(accepts(value)).toBe(false);
  });
});

describe('the engine of a start', () => {
  const caller = (env: Record<string, string> = {}) => ({ env, cwd: '/', entry: '/e', client: 'test' });
  const request = (more: Record<string, unknown> = {}) =>
    start.input.parse({ argv: ['true'], skill: 's', run_id: 'r', ...more });
  const engineOf = (more: Record<string, unknown>, env?: Record<string, string>): string =>
    planFor(request(more), caller({ CE_PEER_JOBS_ROOT: '/nowhere', ...env })).engine;

  test('is this machine, unless another is configured or asked for', () => {
    expect(engineOf({})).toBe('local');
    expect(engineOf({}, { PEER_JOBS_ENGINE: '' })).toBe('local');
    expect(engineOf({}, { PEER_JOBS_ENGINE: 'slurm' })).toBe('slurm');
    expect(engineOf({ engine: 'local' }, { PEER_JOBS_ENGINE: 'slurm' })).toBe('local');
    expect(engineOf({ engine: 'slurm', slurm: { cpus: 1 } })).toBe('slurm');
  });

  test('that is none is refused, and what to do is said', () => {
    expect(() => engineOf({}, { PEER_JOBS_ENGINE: 'pbs' })).toThrow(/set it to local or slurm/);
    expect(() => start.input.parse({ argv: ['true'], engine: 'pbs' })).toThrow();
  });

  test('must be Slurm for what only Slurm can be asked', () => {
    expect(() => engineOf({ slurm: { cpus: 1, partition: 'p' } })).toThrow(
      /partition, cpus can be asked of Slurm only: add engine slurm/,
    );
    expect(engineOf({ slurm: {} })).toBe('local');
  });
});
