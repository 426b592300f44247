/** @jsxImportSource preact */
import type { ReportRow } from '../../index.ts';
import { SIGNS } from '../colours.ts';
import { duration, visibleLine } from '../text.ts';
import { type Bar, barOf, type Scale, scaleOf, ticksOf } from './timeline.ts';

/** A job with its place on the page. */
export interface Placed {
  readonly job: ReportRow;
  /** What links to it end in. */
  readonly id: string;
}

export function nameOf(job: ReportRow): string {
  return visibleLine(job.label ?? job.job_id);
}

/** Text of somebody else's: its direction is its own affair. */
export function Text({ children }: { children: string }) {
  return <bdi>{children}</bdi>;
}

const percent = (share: number): string => `${(share * 100).toFixed(3)}%`;

function inWords(job: ReportRow, bar: Bar | undefined): string {
  if (!bar) return job.state;
  const silent = bar.silences.length > 0 ? ', with a long silence' : '';
  return `${job.state}, ${job.state === 'running' ? 'for' : 'after'} ${duration(job.elapsed_secs)}${silent}${bar.deadline === undefined ? '' : ', deadline reached within'}`;
}

function BarRow({ placed: { job, id }, scale, nowMs }: { placed: Placed; scale: Scale; nowMs: number }) {
  const bar = barOf(job, scale, nowMs);
  return (
    <li data-state={job.state}>
      <a href={`#${id}`} class={job.state}>
        <span aria-hidden="true">{SIGNS[job.state]}</span> <Text>{nameOf(job)}</Text>
        <span class="unseen">: {inWords(job, bar)}</span>
      </a>
      <svg height="22" aria-hidden="true" class={job.state}>
        {bar && (
          <rect
            class={job.state === 'running' ? 'bar open' : 'bar'}
            x={percent(bar.from)}
            width={percent(Math.max(0.004, bar.to - bar.from))}
            y="4"
            height="14"
            rx="2"
          />
        )}
        {bar?.silences.map(({ from, to }) => (
          <rect key={from} class="silence" x={percent(from)} width={percent(to - from)} y="4" height="14" />
        ))}
        {bar?.deadline !== undefined && (
          <line class="deadline" x1={percent(bar.deadline)} x2={percent(bar.deadline)} y1="0" y2="22" />
        )}
      </svg>
    </li>
  );
}

/** Not beyond the edges. */
function anchorOf(share: number): 'start' | 'middle' | 'end' {
  if (share < 0.1) return 'start';
  return share > 0.85 ? 'end' : 'middle';
}

function Axis({ scale }: { scale: Scale }) {
  const ticks = ticksOf(scale);
  const at = (secs: number): string => percent((secs * 1000) / scale.lengthMs);
  return (
    <div class="axis">
      <span class="name" />
      <svg height="22" aria-hidden="true">
        {ticks.map((tick) => (
          <g key={tick}>
            <line x1={at(tick)} x2={at(tick)} y1="16" y2="22" />
            <text x={at(tick)} y="13" text-anchor={anchorOf((tick * 1000) / scale.lengthMs)}>
              {tick === 0 ? '0' : `+${duration(tick)}`}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

/** `2026-11-30 12:57:20`, in UTC as the records are. */
export function Moment({ at }: { at: string | null }) {
  const ms = Date.parse(at ?? '');
  if (Number.isNaN(ms)) return null;
  const text = new Date(ms).toISOString();
  return <time datetime={text}>{text.slice(0, 19).replace('T', ' ')}</time>;
}

function Row({ placed: { job, id } }: { placed: Placed }) {
  return (
    <tr {...AS.row} data-state={job.state}>
      <td {...AS.cell}>
        <a href={`#${id}`}>
          <Text>{nameOf(job)}</Text>
        </a>
      </td>
      <td {...AS.cell} class={`state ${job.state}`}>
        <span aria-hidden="true">{SIGNS[job.state]} </span>
        {job.state}
      </td>
      <td {...AS.cell} data-name="Started">
        <Moment at={job.started_at} />
      </td>
      <td {...AS.cell} class="number" data-name="Took">
        {duration(job.elapsed_secs)}
      </td>
      <td {...AS.cell} class="number" data-name="Exit code">
        {job.exit_code ?? job.signal ?? ''}
      </td>
      <td {...AS.cell}>
        <Text>{visibleLine(job.reason)}</Text>
      </td>
    </tr>
  );
}

/** Said although they go without saying: a narrow page shows rows as blocks, which takes them away in some browsers. */
const AS = {
  table: { role: 'table' },
  rowgroup: { role: 'rowgroup' },
  row: { role: 'row' },
  cell: { role: 'cell' },
  columnheader: { role: 'columnheader' },
} as const;

const HEADS = ['Job', 'State', 'Started (UTC)', 'Took', 'Exit code', 'Reason'];

/** One run: its time line, and the same as a table. */
export function RunSection({
  title,
  jobs,
  nowMs,
}: {
  title: string;
  jobs: readonly Placed[];
  nowMs: number;
}) {
  const scale = scaleOf(
    jobs.map(({ job }) => job),
    nowMs,
  );
  return (
    <section>
      <h2>
        <Text>{title}</Text>
      </h2>
      {scale && (
        <>
          <Axis scale={scale} />
          <ol class="timeline" aria-label={`Time line of ${title}`}>
            {jobs.map((placed) => (
              <BarRow key={placed.id} placed={placed} scale={scale} nowMs={nowMs} />
            ))}
          </ol>
        </>
      )}
      <table {...AS.table}>
        <thead {...AS.rowgroup}>
          <tr {...AS.row}>
            {HEADS.map((head) => (
              <th key={head} {...AS.columnheader} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...AS.rowgroup}>
          {jobs.map((placed) => (
            <Row key={placed.id} placed={placed} />
          ))}
        </tbody>
      </table>
    </section>
  );
}
