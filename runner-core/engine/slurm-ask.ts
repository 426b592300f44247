/**
 * Asks Slurm how jobs stand. A cluster has one controller, so it is asked as little as can be: never for a job whose
 * heartbeat is fresh, one process at most every 10 s for all of its jobs together, and each time in one call. Fifty
 * commands that wait for queued jobs ask five times a second in all, one server with fifty such waits 0.1 times.
 */
import { ENGINE_ASK_MS, ENGINE_FRESH_MS } from '../limits.ts';
import { type Ran, run } from './run-command.ts';
import {
  type ClusterConfig,
  complaint,
  isQueue,
  isUnknownJob,
  type NodeCount,
  parseAccounting,
  parseConfig,
  parseNodes,
  parseQueue,
  type QueueRow,
  SINFO_ARGS,
  sacctArgs,
  squeueArgs,
} from './slurm-commands.ts';
import type { Heard } from './slurm-states.ts';

/** A submission that is on its way is looked for this often. */
const BY_NAME_FRESH_MS = 2000;
/** Questions that come this close together are one. */
const GATHER_MS = 20;

interface Question {
  readonly id: string;
  readonly jobId: string;
  answer(heard: Heard): void;
}

const fresh = new Map<string, { readonly heard: Promise<Heard>; readonly atMs: number }>();
let gathering: Question[] | undefined;

/** How a job stands in Slurm: as heard within the last 10 s, else asked now. `jobId` is our id, the job's name there. */
export function ask(id: string, jobId: string): Promise<Heard> {
  const known = fresh.get(id);
  if (known && performance.now() - known.atMs < ENGINE_FRESH_MS) return known.heard;
  const heard = new Promise<Heard>((resolve) => gather({ id, jobId, answer: resolve }));
  fresh.set(id, { heard, atMs: performance.now() });
  return heard;
}

/** What was heard of a job before does not count any more: it was just cancelled, say. */
export function forget(id: string): void {
  lastListing = undefined;
  fresh.delete(id);
}

function gather(question: Question): void {
  if (gathering) {
    gathering.push(question);
    return;
  }
  gathering = [question];
  setTimeout(() => {
    const questions = gathering ?? [];
    gathering = undefined;
    void answerAll(questions);
  }, GATHER_MS);
}

async function answerAll(questions: readonly Question[]): Promise<void> {
  for (const question of questions) question.answer(await heardOf(question, questions.length > 1));
}

/** The first job is asked for alone; where more follow, all of the user's are listed once for them. */
async function heardOf({ id, jobId }: Question, areMany: boolean): Promise<Heard> {
  // A number that another cluster gave to somebody else's job has another name there.
  const rowIn = (rows: readonly QueueRow[]) => rows.find((row) => row.id === id && row.name === jobId);
  const listed = areMany || askedAlready ? rowIn(await listing()) : undefined;
  askedAlready = true;
  // What a list does not show may be younger than the list.
  const asked = listed ? { rows: [listed] } : await squeue({ id });
  if ('why' in asked) return { kind: 'cannot-tell', why: asked.why };
  const row = rowIn(asked.rows);
  if (row) return { kind: 'known', state: row.state, reason: row.reason };
  if ('doubt' in asked) return { kind: 'cannot-tell', why: asked.doubt };
  return { kind: 'unknown', accounting: await accountingOf(id, jobId) };
}

let askedAlready = false;
let lastListing: { readonly rows: Promise<readonly QueueRow[]>; readonly atMs: number } | undefined;

function listing(): Promise<readonly QueueRow[]> {
  if (!lastListing || performance.now() - lastListing.atMs >= ENGINE_FRESH_MS) {
    const rows = squeue({ uid: ownUid() }).then((asked) => ('why' in asked ? [] : asked.rows));
    lastListing = { rows, atMs: performance.now() };
  }
  return lastListing.rows;
}

function ownUid(): number {
  return process.geteuid?.() ?? -1;
}

/** What was answered is not all that was meant: a row that is missing may have been there. */
interface Doubtful {
  readonly rows: readonly QueueRow[];
  readonly doubt: string;
}

async function squeue(
  which: Parameters<typeof squeueArgs>[0],
): Promise<{ rows: readonly QueueRow[] } | Doubtful | { why: string }> {
  if (down && performance.now() < down.untilMs) return { why: down.why };
  const ran = await slurm('squeue', squeueArgs(which));
  if (ran.outcome === 'exited' && ran.code === 0) {
    const rows = parseQueue(ran.stdout);
    return isQueue(ran.stdout) ? { rows } : { rows, doubt: 'squeue answered what is no list of jobs' };
  }
  if (ran.outcome === 'exited' && isUnknownJob(ran.stderr)) return { rows: [] };
  const why = whyNot('squeue', ran);
  down = { why, untilMs: performance.now() + ENGINE_FRESH_MS };
  return { why };
}

/** A cluster that has not answered about one job is not waited for again about the next. */
let down: { readonly why: string; readonly untilMs: number } | undefined;

type FoundByName = QueueRow | { why: string } | undefined;

const found = new Map<string, { readonly answer: Promise<FoundByName>; readonly atMs: number }>();

/** The job of the user's that has this name, as of 2 s ago at the most. Undefined where there is none. */
export function findByName(name: string): Promise<FoundByName> {
  const known = found.get(name);
  if (known && performance.now() - known.atMs < BY_NAME_FRESH_MS) return known.answer;
  const answer = squeue({ uid: ownUid(), name }).then((asked) =>
    'why' in asked
      ? asked
      : (asked.rows.find((row) => row.name === name) ??
        ('doubt' in asked ? { why: asked.doubt } : undefined)),
  );
  found.set(name, { answer, atMs: performance.now() });
  return answer;
}

async function accountingOf(id: string, jobId: string): Promise<string | undefined> {
  const ran = await slurm('sacct', sacctArgs(id));
  return ran.code === 0 ? parseAccounting(ran.stdout, jobId) : undefined;
}

export async function askConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<ClusterConfig | { why: string; missing: boolean }> {
  const ran = await run('scontrol', ['show', 'config'], { env, timeoutMs: ENGINE_ASK_MS });
  if (ran.outcome === 'exited' && ran.code === 0) return parseConfig(ran.stdout);
  return { why: whyNot('scontrol', ran), missing: ran.outcome === 'missing' };
}

export async function askNodes(
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly NodeCount[] | { why: string }> {
  const ran = await run('sinfo', SINFO_ARGS, { env, timeoutMs: ENGINE_ASK_MS });
  return ran.outcome === 'exited' && ran.code === 0 ? parseNodes(ran.stdout) : { why: whyNot('sinfo', ran) };
}

/**
 * Ends a job, or with `signal` only tells its supervisor. Whether Slurm took the order. The name goes with the number, which
 * may be another job's where Slurm began to count anew, on another cluster, or if sbatch was not answered by Slurm itself.
 */
export async function scancel(id: string, jobId: string, signal?: string): Promise<boolean> {
  const args = [`--name=${jobId}`, ...(signal === undefined ? [] : [`--signal=${signal}`, '--batch']), id];
  const { outcome, code } = await slurm('scancel', args);
  forget(id);
  return outcome === 'exited' && code === 0;
}

function slurm(program: string, args: readonly string[]): Promise<Ran> {
  return run(program, args, { env: process.env, timeoutMs: ENGINE_ASK_MS });
}

function whyNot(program: string, { outcome, code, stderr }: Ran): string {
  if (outcome === 'missing') return `${program} is not on PATH here`;
  if (outcome === 'timed-out') return `${program} did not answer within ${ENGINE_ASK_MS / 1000} s`;
  return `${program}: ${complaint(stderr) || `exit code ${code}`}`;
}
