import { Box, Text, useApp, useInput, useStdout } from 'ink';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { type JobState, logTail, messageOf, type RosterJob } from '../../index.ts';
import { cutTo, visible, visibleLine } from '../text.ts';
import {
  footLine,
  HELP,
  headLine,
  type JobLine,
  jobLine,
  logLines,
  planFor,
  titleLine,
  windowStart,
} from './lines.ts';
import { Growth } from './sparkline.ts';
import { BEGIN, indexOf, type Press, press, shownOf, type ViewState } from './view-state.ts';

const TAIL_BYTES = 16 * 1024;
const CLOCK_MS = 1000;
const SPARK = { stretchMs: 2000, count: 12 };

const STATE_COLOURS: Readonly<Record<JobState, string>> = {
  done: 'green',
  running: 'cyan',
  timeout: 'yellow',
  failed: 'red',
  'died-without-result': 'red',
  unreadable: 'red',
  'never-started': 'gray',
};

export interface Source {
  rows(): readonly RosterJob[];
  subscribe(listener: () => void): () => void;
  /** Gives one line on how it went. */
  reap(jobDir: string): Promise<string>;
}

export interface ViewProps {
  readonly source: Source;
  readonly colours: boolean;
}

type Key = Parameters<Parameters<typeof useInput>[0]>[1];

/** Keys that came together are one input; what is pasted may hold anything. */
function pressesOf(input: string, key: Key): Press[] {
  const names: readonly [boolean, NonNullable<Press['key']>][] = [
    [key.upArrow, 'up'],
    [key.downArrow, 'down'],
    [key.pageUp, 'page-up'],
    [key.pageDown, 'page-down'],
    [key.home, 'home'],
    [key.end, 'end'],
    [key.return, 'enter'],
    [key.escape, 'escape'],
    [key.backspace || key.delete, 'backspace'],
  ];
  const name = names.find(([is]) => is)?.[1];
  if (name) return [{ input: '', key: name }];
  if (key.ctrl || key.meta) return [];
  return [...input].flatMap((character): Press[] => {
    if (character === '\r' || character === '\n') return [{ input: '', key: 'enter' }];
    return visible(character) === character ? [{ input: character }] : [];
  });
}

/** The terminal's size, as it is now. */
function useArea(): { columns: number; rows: number } {
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
function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), CLOCK_MS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return Math.max(now, Date.now());
}

function useGrowth(jobs: readonly RosterJob[]): (jobDir: string, nowMs: number) => string {
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

function JobRow({ line, colours }: { line: JobLine; colours: boolean }) {
  const colour = colours && !line.chosen ? { color: STATE_COLOURS[line.state] } : {};
  return (
    <Text wrap="truncate" inverse={line.chosen}>
      {line.before}
      <Text {...colour}>{line.word}</Text>
      {line.after}
    </Text>
  );
}

function tailOf(job: RosterJob | undefined): string {
  return job === undefined || job.state === 'unreadable' ? '' : (logTail(job.job_dir, TAIL_BYTES) ?? '');
}

export function View({ source, colours }: ViewProps) {
  const { exit } = useApp();
  const area = useArea();
  const jobs = useSyncExternalStore(source.subscribe, source.rows);
  const [state, setState] = useState<ViewState>(BEGIN);
  // Keys may come faster than the view is drawn: each builds on the one before, not on what is seen.
  const latest = useRef<ViewState>(BEGIN);
  const change = (next: ViewState): void => {
    latest.current = next;
    setState(next);
  };
  const now = useNow(jobs.some((job) => job.state === 'running'));
  const spark = useGrowth(jobs);

  const shown = shownOf(jobs, state);
  const at = indexOf(shown, state);
  const chosen = shown[at];
  const plan = planFor(area, Math.max(1, shown.length));
  const from = windowStart(at, plan.jobRows, shown.length);

  const apply = (pressed: Press): void => {
    const next = press(latest.current, pressed, shownOf(jobs, latest.current), plan.jobRows);
    change(next.state);
    if (next.effect?.kind === 'quit') exit();
    if (next.effect?.kind === 'reap') {
      const tell = (message: string): void => change({ ...latest.current, message });
      source.reap(next.effect.jobDir).then(tell, (error: unknown) => tell(messageOf(error)));
    }
  };
  useInput((input, key) => {
    for (const pressed of pressesOf(input, key)) apply(pressed);
  });

  const { columns } = area;
  const name = chosen ? `${visibleLine(chosen.label ?? '-')}  ${chosen.job_id}  ${chosen.state}` : '';
  const rule = cutTo(`──${name && ` ${name} `}${'─'.repeat(columns)}`, columns).replace(/…$/, '─');
  return (
    <Box flexDirection="column" height={area.rows} width={columns}>
      <Text wrap="truncate" bold>
        {titleLine(jobs, shown.length, state, columns)}
      </Text>
      <Text wrap="truncate" dimColor>
        {headLine(columns)}
      </Text>
      <Box flexDirection="column" height={plan.jobRows} flexShrink={0}>
        {shown.length === 0 ? (
          <Text dimColor>
            {jobs.length === 0 ? 'No jobs yet; they appear here as they start.' : 'No jobs found.'}
          </Text>
        ) : (
          shown.slice(from, from + plan.jobRows).map((job) => (
            <JobRow
              key={job.job_dir}
              colours={colours}
              line={jobLine(job, {
                chosen: job === chosen,
                columns,
                nowMs: now,
                spark: spark(job.job_dir, now),
              })}
            />
          ))
        )}
      </Box>
      <Text wrap="truncate" dimColor>
        {rule}
      </Text>
      <Box flexDirection="column" height={plan.logRows} flexShrink={0} overflow="hidden">
        {(state.mode === 'help'
          ? HELP.slice(0, plan.logRows)
          : logLines(tailOf(chosen), { columns, rows: plan.logRows })
        ).map((line, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line of the screen is told by its place
          <Text key={row} wrap="truncate">
            {line || ' '}
          </Text>
        ))}
      </Box>
      <Text wrap="truncate" bold={state.mode === 'asking'} dimColor={state.mode === 'looking'}>
        {footLine(state, chosen, columns)}
      </Text>
    </Box>
  );
}
