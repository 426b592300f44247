import type { RemovedRow } from '../../index.ts';
import { duration, size, visibleLine } from '../text.ts';

/** What went, or with `dryRun` would go: a line each, then what it came to. */
export function renderRemoved(
  rows: readonly RemovedRow[],
  options: { dryRun: boolean; kept?: number },
): string {
  const gone = rows.filter((row) => row.removed);
  const lines = gone.map((row) =>
    [
      row.job_id,
      row.state,
      duration(row.elapsed_secs),
      size(row.bytes),
      ...(row.label === null ? [] : [row.label]),
    ]
      .map(visibleLine)
      .join('\t'),
  );
  const bytes = size(gone.reduce((sum, row) => sum + row.bytes, 0));
  const verb = options.dryRun ? 'would remove' : 'removed';
  const kept = options.kept === undefined ? '' : `; ${options.kept} kept`;
  const jobs = gone.length === 1 ? '1 job' : `${gone.length} jobs`;
  return [...lines, `${verb} ${jobs}, ${bytes}${kept}`, ''].join('\n');
}
