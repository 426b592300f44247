import { Box, Text, useApp, useInput } from 'ink';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { logTail, messageOf, type RosterJob } from '../../index.ts';
import { STATE_COLOURS } from '../colours.ts';
import { cutTo, visibleLine } from '../text.ts';
import { useArea, useGrowth, useNow } from './hooks.ts';
import { pressesOf } from './keys.ts';
import {
  footLine,
  HELP,
  headLine,
  type JobLine,
  jobLine,
  paneOf,
  planFor,
  titleLine,
  windowStart,
} from './lines.ts';
import { BEGIN, indexOf, type Press, press, REAPING, shownOf, type ViewState } from './view-state.ts';

const TAIL_BYTES = 16 * 1024;
const MESSAGE_MS = 3000;

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

function JobRow({ line, colours }: { line: JobLine; colours: boolean }) {
  const colour = STATE_COLOURS[line.state];
  const painted = colour === 'dim' ? { dimColor: true } : { color: colour };
  return (
    <Text wrap="truncate" inverse={line.chosen}>
      {line.before}
      <Text {...(colours && !line.chosen ? painted : {})}>{line.word}</Text>
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
  useEffect(() => {
    if (state.message === '' || state.message === REAPING) return;
    const timer = setTimeout(() => {
      latest.current = { ...latest.current, message: '' };
      setState(latest.current);
    }, MESSAGE_MS);
    return () => clearTimeout(timer);
  }, [state.message]);
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
  const pane =
    state.mode === 'help'
      ? { why: [], log: HELP.slice(0, plan.logRows) }
      : paneOf(chosen, tailOf(chosen), { columns, rows: plan.logRows });
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
        {[...pane.why, ...pane.log].map((line, row) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line of the screen is told by its place
          <Text key={row} wrap="truncate" bold={row < pane.why.length}>
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
