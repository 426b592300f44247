/** @jsxImportSource preact */
import { createHash } from 'node:crypto';
import { renderToStaticMarkup } from 'preact-render-to-string';
import { JOB_STATES, type Report, type ReportRow, wentWrong } from '../../index.ts';
import { SIGNS } from '../colours.ts';
import { shellWord } from '../people/show.ts';
import { duration, size, visibleLine, visibleLines } from '../text.ts';
import { Moment, nameOf, type Placed, RunSection, Text } from './run-section.tsx';
import { filterRules, STYLE } from './style.ts';

interface Run {
  readonly title: string;
  readonly jobs: readonly Placed[];
}

/** By run, in the order in which they come; within a run the first to start first. */
function runsOf(jobs: readonly ReportRow[]): Run[] {
  const runs = new Map<string, Placed[]>();
  for (const [at, job] of jobs.entries()) {
    const title = job.run_id === null ? 'Unknown run' : `${job.skill ?? '?'} / ${job.run_id}`;
    const placed = { job, id: `job-${at + 1}` };
    runs.set(title, [placed, ...(runs.get(title) ?? [])]);
  }
  return [...runs].map(([title, placed]) => ({ title: visibleLine(title), jobs: placed }));
}

function Filter({ jobs, states }: { jobs: readonly ReportRow[]; states: readonly ReportRow['state'][] }) {
  return (
    <fieldset>
      <legend>Show</legend>
      {states.map((state) => (
        <label key={state} for={`show-${state}`}>
          <input type="checkbox" id={`show-${state}`} checked />
          <span class={`state ${state}`}>
            {jobs.filter((job) => job.state === state).length} {state}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Field({ name, children }: { name: string; children: preact.ComponentChildren }) {
  if (children === null || children === undefined || children === '') return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Details({ placed: { job, id } }: { placed: Placed }) {
  const lines = visibleLines(job.log_tail ?? '');
  const text = (value: string | null) => (value === null ? null : <Text>{visibleLine(value)}</Text>);
  return (
    <details id={id} data-state={job.state} open={wentWrong(job.state) && lines.length > 0}>
      <summary>
        <span class={`state ${job.state}`}>
          <span aria-hidden="true">{SIGNS[job.state]} </span>
          {job.state}
        </span>{' '}
        <Text>{nameOf(job)}</Text> <span class="soft">{duration(job.elapsed_secs)}</span>
      </summary>
      <div class="inside">
        <dl>
          <Field name="Reason">{text(job.reason || null)}</Field>
          <Field name="Job">{text(job.job_id)}</Field>
          <Field name="Command">
            {job.argv && <code>{visibleLine(job.argv.map(shellWord).join(' '))}</code>}
          </Field>
          <Field name="Folder">{text(job.cwd)}</Field>
          <Field name="Started">
            <Moment at={job.started_at} />
          </Field>
          <Field name="Ended">
            <Moment at={job.ended_at} />
          </Field>
          <Field name="Last output">
            <Moment at={job.last_output_at} />
          </Field>
          <Field name="Deadline">
            {job.hard_secs === null ? null : `${duration(job.hard_secs)} after the start`}
          </Field>
          <Field name="Result">{text(job.result_path)}</Field>
          <Field name="Log">{job.log_bytes === null ? null : size(job.log_bytes)}</Field>
        </dl>
        {lines.length > 0 ? (
          // It can be scrolled, so a keyboard must reach it.
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs the focus
          <section class="log" tabIndex={0} aria-label={`End of the log of ${nameOf(job)}`}>
            <pre>{lines.join('\n')}</pre>
          </section>
        ) : (
          <p class="soft">The log is empty.</p>
        )}
      </div>
    </details>
  );
}

function Page({ report, style, policy }: { report: Report; style: string; policy: string }) {
  const { jobs } = report;
  const states = JOB_STATES.filter((state) => jobs.some((job) => job.state === state));
  const runs = runsOf(jobs);
  const nowMs = Date.parse(report.generated_at);
  const [only] = runs;
  const title = runs.length === 1 && only ? `Peer jobs: ${only.title}` : 'Peer jobs';
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={policy} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <title>{title}</title>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own style sheet, of which the policy knows the digest */}
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>
        <a class="skip" href="#details">
          Skip to the details
        </a>
        <header>
          <h1>
            <Text>{title}</Text>
          </h1>
          <p class="soft">
            As of <Moment at={report.generated_at} /> UTC.{' '}
            {jobs.length === 1 ? '1 job' : `${jobs.length} jobs`}
            {report.more ? ', the newest; there are more' : ''}.
          </p>
        </header>
        <main>
          {jobs.length > 0 ? (
            <>
              <Filter jobs={jobs} states={states} />
              <p class="soft">Hatched: no output. Dashed line: the deadline of the job.</p>
              <svg class="defs" aria-hidden="true">
                <pattern
                  id="hatch"
                  width="6"
                  height="6"
                  patternUnits="userSpaceOnUse"
                  patternTransform="rotate(45)"
                >
                  <rect class="hatch-ground" width="6" height="6" />
                  <line class="hatch-line" x1="0" y1="0" x2="0" y2="6" />
                </pattern>
              </svg>
              {runs.map((run) => (
                <RunSection key={run.title} title={run.title} jobs={run.jobs} nowMs={nowMs} />
              ))}
              <h2 id="details">Details and logs</h2>
              {runs.flatMap((run) => run.jobs.map((placed) => <Details key={placed.id} placed={placed} />))}
            </>
          ) : (
            <p id="details">No jobs found.</p>
          )}
        </main>
      </body>
    </html>
  );
}

/**
 * A report as a page of one file. No script in it can run, whoever wrote it: there is none of ours, the policy allows
 * none, and all text of jobs is escaped by the renderer.
 */
export function pageOf(report: Report): string {
  const style = STYLE + filterRules(JOB_STATES);
  const digest = createHash('sha256').update(style).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>\n${renderToStaticMarkup(<Page report={report} style={style} policy={policy} />)}\n`;
}
