import type { forPeople } from '../../index.ts';
import { coloursFor, paintState, SIGNS } from '../colours.ts';
import type { Screen } from '../terminal.ts';
import { columnsOf, cutTo, duration, size, visibleLine, visibleLines } from '../text.ts';

type Shown = Awaited<ReturnType<Awaited<ReturnType<typeof forPeople.show>>['run']>>;
type Process = Shown['supervisor'];

const TAIL_LINES = 20;

/** An argument as a shell would have to be given it. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function processText(process: Process): string | undefined {
  return process ? `${process.pid} (${process.state})` : undefined;
}

function windowsText(windows: Shown['supervision']): string | undefined {
  if (!windows) return undefined;
  const idle = windows.idle === null ? 'off' : duration(windows.idle);
  return `idle ${idle}, hard ${duration(windows.hard)}, grace ${duration(windows.grace)}, log ${size(windows.log_max)}, result ${size(windows.result_max)}`;
}

function resultText({ job, result }: Shown): string | undefined {
  if (job.result_path === null) return undefined;
  const how = result.evidence === 'present' ? size(result.bytes) : result.evidence;
  return `${job.result_path} (${how}${result.sha256 ? `, sha256 ${result.sha256.slice(0, 12)}…` : ''})`;
}

function endText({ job, classified_by }: Shown): string | undefined {
  if (job.state === 'running') return undefined;
  const how = [
    job.reason,
    job.exit_code === null ? '' : `exit code ${job.exit_code}`,
    job.signal ? `signal ${job.signal}` : '',
    classified_by && classified_by !== 'supervisor' ? `recorded by ${classified_by}` : '',
  ];
  return how.filter(Boolean).join(', ');
}

function engineText(engine: Shown['job']['engine']): string | undefined {
  if (!engine) return undefined;
  const parts = [
    `${engine.name}${engine.id === null ? '' : ` job ${engine.id}`}`,
    engine.cluster && `cluster ${engine.cluster}`,
    engine.host && `on ${engine.host}`,
    engine.queued ? 'queued' : '',
    engine.state,
    engine.detail,
  ];
  return parts.filter(Boolean).join(', ');
}

/** Everything about one job, for reading; on a terminal cut to its width. */
export function renderShow(shown: Shown, screen: Screen | undefined): string {
  const { job } = shown;
  const colours = coloursFor(screen);
  const fields: [string, string | undefined][] = [
    ['label', job.label ?? undefined],
    ['state', `${SIGNS[job.state]} ${job.state}`],
    ['how it ended', endText(shown)],
    ['run', `${job.skill ?? '?'} / ${job.run_id ?? '?'}`],
    ['command', shown.argv?.map(shellWord).join(' ')],
    ['in', shown.cwd ?? undefined],
    ['started', job.started_at ?? undefined],
    ['ended', shown.ended_at ?? undefined],
    ['took', job.elapsed_secs === null ? undefined : duration(job.elapsed_secs)],
    ['quiet for', job.idle_secs === null ? undefined : duration(job.idle_secs)],
    ['result', resultText(shown)],
    ['windows', windowsText(shown.supervision)],
    ['engine', engineText(job.engine)],
    ['supervisor', processText(shown.supervisor)],
    ['worker', processText(shown.worker)],
    ['started by', shown.client ?? undefined],
    ['key', shown.key ?? undefined],
    ['input digest', shown.input_digest ?? undefined],
    ['directory', job.job_dir],
    ['files', shown.files.map(({ name, bytes }) => `${name} ${size(bytes)}`).join(', ') || undefined],
  ];
  const width = Math.max(...fields.map(([name]) => columnsOf(name)));
  const lines = fields.flatMap(([name, value]) => {
    if (value === undefined) return [];
    const text = visibleLine(value);
    const painted = name === 'state' ? paintState(colours, job.state, text) : text;
    return [`${colours.dim(name.padEnd(width))}  ${painted}`];
  });
  return `${[colours.bold(visibleLine(job.job_id)), ...lines, ...tail(shown, screen)].join('\n')}\n`;
}

function tail({ log_tail, job }: Shown, screen: Screen | undefined): string[] {
  const lines = visibleLines(log_tail ?? '').slice(-TAIL_LINES);
  if (lines.length === 0) return ['', 'The log is empty.'];
  const colours = coloursFor(screen);
  const shown = lines.map((line) => `  ${screen ? cutTo(line, screen.columns - 2) : line}`);
  return ['', colours.bold(`The end of the log (${size(job.log_bytes)}):`), ...shown];
}
