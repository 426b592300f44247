import type { JobRow } from '../../../runner-core/index.ts';

/** The row of a running job of that label, unless `fields` say otherwise. */
export function jobRow(label: string, fields: Partial<JobRow> = {}): JobRow {
  return {
    ref: label,
    job_id: `20261130T120000Z-${label}`,
    job_dir: `/jobs/${label}`,
    state: 'running',
    skill: 's',
    run_id: 'r',
    label,
    reason: '',
    started_at: '2026-11-30T12:00:00Z',
    elapsed_secs: 10,
    idle_secs: 1,
    exit_code: null,
    signal: null,
    log_bytes: 0,
    log_path: `/jobs/${label}/out.log`,
    result_path: null,
    engine: null,
    ...fields,
  };
}
