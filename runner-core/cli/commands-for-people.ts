/** The commands that only people have. Each is loaded when it is called: a `status` does not wait for them. */
import * as z from 'zod/mini';
import { forPeople, jobFilter, RunnerError } from '../index.ts';
import { type Declared, SHELLS } from './command.ts';
import { type CliCommand, define, defineOwn, ok, withProblems } from './commands.ts';
import { spacedJson } from './render.ts';

export const watchDeclared = {
  name: 'watch',
  description:
    'A full-screen view of all jobs that keeps itself up to date: states, output, the end of the chosen log; reap with a confirmation. ? lists the keys, q ends it and leaves the jobs alone.',
  input: z.strictObject(jobFilter),
} satisfies Declared;

const completionDeclared = {
  name: 'completion',
  description: 'Prints the completion of a shell: bash, zsh or fish. Its first line says where it goes.',
  input: z.strictObject({ shell: z.enum(SHELLS) }),
} satisfies Declared;

const manDeclared = {
  name: 'man',
  description: 'Prints the manual page; read it with: peer-jobs man | man -l -',
  input: z.strictObject({}),
} satisfies Declared;

async function show(): Promise<CliCommand> {
  return define(await forPeople.show(), async (_input, { json, perform, output }) => {
    const shown = await perform();
    if (json) return ok(`${spacedJson(shown)}\n`);
    const { renderShow } = await import('./people/show.ts');
    return ok(renderShow(shown, output.screen()));
  });
}

/** Exit code 1 where a job that was named stays. */
async function remove(): Promise<CliCommand> {
  return define(await forPeople.remove(), async (input, { json, perform }) => {
    const { jobs, unknown } = await perform();
    const { renderRemoved } = await import('./people/removed.ts');
    const problems = [...unknown, ...jobs].flatMap(({ problem }) => problem ?? []);
    const text = renderRemoved(jobs, { dryRun: input.dry_run ?? false });
    return withProblems(json ? `${spacedJson(jobs)}\n` : text, problems);
  });
}

async function prune(): Promise<CliCommand> {
  return define(await forPeople.prune(), async (input, { json, perform }) => {
    const { jobs, kept } = await perform();
    const { renderRemoved } = await import('./people/removed.ts');
    const problems = jobs.flatMap(({ problem }) => problem ?? []);
    const text = renderRemoved(jobs, { dryRun: input.dry_run ?? false, kept });
    return withProblems(json ? `${spacedJson({ jobs, kept })}\n` : text, problems);
  });
}

/** Exit code 1 where something does not work. */
async function doctor(): Promise<CliCommand> {
  return define(await forPeople.doctor(), async (_input, { json, perform, output }) => {
    const diagnosis = await perform();
    const { renderDoctor } = await import('./people/doctor.ts');
    const stdout = json ? `${spacedJson(diagnosis)}\n` : renderDoctor(diagnosis, output.screen());
    return { stdout, stderr: [], exitCode: diagnosis.healthy ? 0 : 1 };
  });
}

const REPORT_FLAGS = [
  { name: 'html', value: 'FILE', description: 'Write it as a page of one file; - is stdout.' },
];

async function report(): Promise<CliCommand> {
  return define(
    await forPeople.report(),
    async (_input, { json, perform, output, shown, caller }) => {
      const { unknown, ...made } = await perform();
      const problems = unknown.map(({ problem }) => problem);
      if (json) return withProblems(`${spacedJson({ ...made, unknown })}\n`, problems);
      const file = shown.html;
      if (typeof file !== 'string') {
        const { renderReport } = await import('./people/report-text.ts');
        return withProblems(renderReport(made, output.screen()), problems);
      }
      const { writePage } = await import('./people/report-page.ts');
      return withProblems(await writePage(made, file, caller.cwd), problems);
    },
    { flags: REPORT_FLAGS },
  );
}

async function completion(): Promise<CliCommand> {
  return defineOwn(completionDeclared, async ({ shell }) => {
    const { completionFor } = await import('./people/completion.ts');
    const { vocabulary } = await import('./vocabulary.ts');
    return ok(completionFor(shell, await vocabulary()));
  });
}

async function man(): Promise<CliCommand> {
  return defineOwn(manDeclared, async () => {
    const { manPage } = await import('./people/man-page.ts');
    const { vocabulary } = await import('./vocabulary.ts');
    return ok(manPage(await vocabulary(), await forPeople.variables()));
  });
}

async function watch(): Promise<CliCommand> {
  return defineOwn(watchDeclared, async (input, { caller, output }) => {
    if (!output.screen()) throw new RunnerError('usage', 'watch needs a terminal; for a pipe there is list');
    const { openWatch } = await import('./people/open-watch.ts');
    await openWatch(input, caller);
    return ok('');
  });
}

export const FOR_PEOPLE: readonly { readonly name: string; load(): Promise<CliCommand> }[] = [
  { name: 'show', load: show },
  { name: 'watch', load: watch },
  { name: 'report', load: report },
  { name: 'remove', load: remove },
  { name: 'prune', load: prune },
  { name: 'doctor', load: doctor },
  { name: 'completion', load: completion },
  { name: 'man', load: man },
];
