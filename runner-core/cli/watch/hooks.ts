/** What the view hangs on besides the jobs: the terminal, the clock, how the logs grew. */
import { useStdout } from 'ink';
import { useEffect, useRef, useState } from 'react';
import type { RosterJob } from '../../index.ts';
import { type Area, SPARK_COLUMNS } from './lines.ts';
import { Growth } from './sparkline.ts';

const CLOCK_MS = 1000;
const SPARK = { stretchMs: 2000, count: SPARK_COLUMNS };

/** The terminal's size, as it is now. */
export function useArea(): Area {
  const { stdout } = useStdout();
  const [, redraw] = useState(0);
  useEffect(() => {
    const resized = (): void => redraw((count) => count + 1);
    stdout.on('resize', resized);
    return () => void stdout.off('resize', resized);
  }, [stdout]);
  // A full last line would make some terminals scroll.
  return { columns: Math.max(20, stdout.columns || 80), rows: Math.max(8, (stdout.rows || 24) - 1) };
}

/** Time goes on while a job runs, and only then. */
export function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), CLOCK_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return Math.max(now, Date.now());
}

/** How much the log of each running job grew lately, as a line. */
export function useGrowth(jobs: readonly RosterJob[]): (jobDir: string, nowMs: number) => string {
  const growths = useRef(new Map<string, Growth>());
  useEffect(() => {
    const running = jobs.filter((job) => job.state === 'running');
    const dirs = new Set(running.map((job) => job.job_dir));
    for (const jobDir of growths.current.keys()) if (!dirs.has(jobDir)) growths.current.delete(jobDir);
    for (const job of running) {
      const growth = growths.current.get(job.job_dir) ?? new Growth(SPARK);
      growths.current.set(job.job_dir, growth);
      growth.note(job.log_bytes ?? 0, job.read_ms);
    }
  }, [jobs]);
  return (jobDir, nowMs) => growths.current.get(jobDir)?.line(nowMs) ?? '';
}
