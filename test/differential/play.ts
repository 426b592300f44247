/** One side's part of a scenario: what it was asked, what it answered, what it left on the disk. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { isAtRest } from '../support/jobs.ts';
import { type Argv, oursIsReference, type SideName } from '../support/programs.ts';
import {
  jobDirsBelow,
  listDirectory,
  modeOf,
  readJobFile,
  readLog,
  readMeta,
  readPids,
  readReady,
  readReason,
  readStatus,
  type TerminalWord,
} from '../support/read-job.ts';
import type { CliRun } from '../support/run-cli.ts';
import { openTempBase, type TempBase } from '../support/temp-base.ts';
import { OURS_MAY_ADD } from './may-add.ts';

export interface Job {
  readonly id: string;
  readonly dir: string;
  /** Its name in traces: `<job 1>` for the first of the scenario. */
  readonly name: string;
}

export interface CallOptions {
  /** The whole environment, but for CE_PEER_JOBS_ROOT; a clean copy of this process's when not given. */
  readonly env?: Readonly<Record<string, string>>;
  readonly extra?: Readonly<Record<string, string>>;
  /** Variables to leave out of the environment. */
  readonly without?: readonly string[];
  readonly cwd?: string;
  readonly umask?: string;
  readonly timeoutMs?: number;
}

/** A supervisor of the reference that looks often and does not grant long, so that nobody waits for it. */
const BRISK = { CE_PEER_POLL_SECS: '0.1', CE_PEER_GRACE_SECS: '1' };

/** The fields of meta.json that both sides write. */
const META_FIELDS = [
  'job_id',
  'skill',
  'run_id',
  'label',
  'input_digest',
  'worker_argv',
  'result_path',
  'sweep_enabled',
  'supervision',
];
const PID_FIELDS = ['supervisor_pid', 'supervisor_pgid', 'worker_pid'];
const SHARED_FILES = ['meta.json', 'out.log', 'pid', 'reason', 'status'];

export class Play {
  readonly side: SideName;
  readonly temp: TempBase;
  /** One line a step: what was done, `→`, the exit code and the standard output as JSON text. */
  readonly trace: string[] = [];
  readonly records: Record<string, unknown> = {};
  readonly #jobs: Job[] = [];

  constructor(side: SideName, temp: TempBase) {
    this.side = side;
    this.temp = temp;
  }

  static open(side: SideName): Play {
    return new Play(side, openTempBase());
  }

  /** Runs the side's command line and notes the answer. */
  cli(...args: string[]): Promise<CliRun> {
    return this.cliWith({}, ...args);
  }

  async cliWith(options: CallOptions, ...args: string[]): Promise<CliRun> {
    const { without = [], extra, env: chosen = this.temp.env, ...rest } = options;
    const env = { ...chosen, ...BRISK, CE_PEER_JOBS_ROOT: this.temp.base };
    for (const name of without) Reflect.deleteProperty(env, name);
    const run = await this.temp.run(this.side, args, { ...rest, env, ...(extra && { extra }) });
    this.#adoptNewJobs(run.stdout.toString('utf8').trim());
    const asked = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
    this.#note(asked, run);
    return run;
  }

  #note(asked: readonly string[], run: CliRun): void {
    const text = run.stdout.toString('utf8');
    const shown = Buffer.from(text, 'utf8').equals(run.stdout)
      ? JSON.stringify(this.normal(text))
      : `base64:${run.stdout.toString('base64')}`;
    const told = run.code === 0 ? '' : run.stderr.trim() ? ', and says why' : ', and says nothing';
    this.say(`${asked.map((arg) => this.normal(arg)).join(' ')} → ${run.code} ${shown}${told}`);
    if (this.side === 'ours' && !oursIsReference && /^\s+at .+:\d+:\d+\)?$/m.test(run.stderr)) {
      throw new Error(`a stack trace instead of a message: ${run.stderr}`);
    }
  }

  /** Starts a job that must start; `flags` come after `--skill s --run-id r`. */
  async start(worker: Argv, flags: readonly string[] = [], options: CallOptions = {}): Promise<Job> {
    const run = await this.cliWith(
      options,
      'start',
      '--skill',
      's',
      '--run-id',
      'r',
      ...flags,
      '--',
      ...worker,
    );
    const job = this.#jobs.find(({ id }) => id === run.stdout.toString('utf8').trim());
    if (run.code !== 0 || job === undefined) {
      throw new Error(`${this.side}: start gave ${run.code} and ${run.stdout}${run.stderr}`);
    }
    return job;
  }

  /** A job that has ended with this word. */
  async settledJob(worker: Argv, flags: readonly string[] = [], options: CallOptions = {}): Promise<Job> {
    const job = await this.start(worker, flags, options);
    await this.settled(job);
    return job;
  }

  /** The job whose worker has said that it is in position. */
  async readyJob(worker: Argv, flags: readonly string[] = [], options: CallOptions = {}): Promise<Job> {
    const job = await this.start(worker, flags, options);
    await this.ready(job);
    return job;
  }

  /** The directory that a failed start left behind. */
  leftBehind(): Job {
    const job = this.#jobs.at(-1);
    if (job === undefined) throw new Error(`${this.side}: no job directory was left`);
    return job;
  }

  /** The job's word, once whoever wrote it has tidied up and ended as well: that comes after the news. */
  settled(job: Job): Promise<TerminalWord> {
    // The word first: what is tidy before it is there need not be tidy after.
    return eventually(() => {
      const word = readStatus(job.dir);
      return word !== undefined && isAtRest(job.dir) && word;
    });
  }

  /** Waits for the worker's `ready` line and gives the pids in it. */
  async ready(job: Job): Promise<[number, ...number[]]> {
    return eventually(() => readReady(job.dir));
  }

  say(line: string): void {
    this.trace.push(line);
  }

  /** Notes everything on the disk about the job that both sides must have the same, less what is told to be left out. */
  record(job: Job, { log = true, pid = true }: { log?: boolean; pid?: boolean } = {}): void {
    const { base } = this.temp;
    const dirs = [
      job.dir,
      dirname(job.dir),
      dirname(dirname(job.dir)),
      dirname(dirname(dirname(job.dir))),
      base,
    ];
    const files = this.filesOf(job).filter((name) => pid || name !== 'pid');
    const meta: Record<string, unknown> = readMeta(job.dir);
    this.records[job.name] = {
      files,
      fileModes: files
        .filter((name) => SHARED_FILES.includes(name))
        .map((name) => `${name} ${modeOf(join(job.dir, name))}`),
      dirModes: dirs.map(modeOf),
      status: readJobFile(job.dir, 'status'),
      reason: this.reasonOf(job),
      pid: pid ? this.#pidFields(job) : 'not compared',
      meta: this.#metaFields(meta),
      startedNow: Math.abs(Date.now() - Date.parse(String(meta.started_at))) < 60_000,
      startedAt: String(meta.started_at).replace(/\d/g, '9'),
      log: log ? this.normal(readLog(job.dir)).replace(/^ready [\d ]+/gm, 'ready …') : 'not compared',
    };
  }

  /** Names in the job directory, without those that only we write. */
  filesOf(job: Job): string[] {
    return listDirectory(job.dir).filter(
      (name) => this.side === 'reference' || !OURS_MAY_ADD.some((pattern) => pattern.test(name)),
    );
  }

  /** The detail line, without what cannot be the same twice. */
  reasonOf(job: Job): string | undefined {
    return readReason(job.dir)
      ?.replace(/^(could not launch worker: ).+$/s, '$1…')
      .replace(/^(out\.log exceeded byte cap \()\d+/, '$1…');
  }

  #pidFields(job: Job): string[] | undefined {
    const pids: Record<string, unknown> | undefined = readPids(job.dir);
    return pids && PID_FIELDS.filter((field) => Number.isInteger(pids[field]) && Number(pids[field]) > 1);
  }

  #metaFields(meta: Readonly<Record<string, unknown>>): unknown {
    const fields = META_FIELDS.map((name) => [name, name in meta ? meta[name] : '<absent>']);
    return JSON.parse(this.normal(JSON.stringify(Object.fromEntries(fields))));
  }

  /** Makes the job look as if it had been started so many seconds earlier. */
  backdate(job: Job, secs: number): void {
    const moment = new Date(Date.now() - secs * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
    const path = join(job.dir, 'meta.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace(/("started_at": ?")[^"]+/, `$1${moment}`));
  }

  /** Text as it must be the same on both sides: own paths, job ids and times are named, not shown. */
  normal(text: string): string {
    let normal = text.replaceAll(this.temp.root, '<temp>');
    for (const job of this.#jobs) normal = normal.replaceAll(job.id, job.name);
    return normal
      .replace(/(\t)(\d+)s(?=\t|\n|$)/g, (_, tab, secs) => tab + about(secs))
      .replace(/("elapsed_secs": )(\d+)/g, (_, key, secs) => key + about(secs))
      .replace(/("secs_left": )(\d+)/g, (_, key, secs) => key + about(secs))
      .replace(/(out\.log exceeded byte cap \()\d+/g, '$1…')
      .replace(/(; )(\d+)s( left before)/g, (_, before, secs, after) => before + about(secs) + after);
  }

  /** `printed`: the id that comes first, should there be others by now, started from inside that job. */
  #adoptNewJobs(printed: string): void {
    const known = new Set(this.#jobs.map(({ dir }) => dir));
    const fresh = jobDirsBelow(this.temp.root).filter((dir) => !known.has(dir));
    const isPrinted = (dir: string): number => Number(basename(dir) === printed);
    for (const dir of fresh.sort((one, other) => isPrinted(other) - isPrinted(one))) {
      this.#jobs.push({ id: basename(dir), dir, name: `<job ${this.#jobs.length + 1}>` });
      this.temp.ledger.registerJob(dir);
    }
  }

  /** Ends the jobs that the scenario left running; what belongs to a settled one must be gone by itself. */
  async close(): Promise<void> {
    try {
      await this.temp.ledger.endRunningJobs();
    } finally {
      await this.temp.close();
    }
  }
}

/** Seconds to the minute they fall into: two sides never take the same time. */
function about(secs: string): string {
  const minute = Math.floor(Number(secs) / 60);
  return minute === 0 ? '<under 1 min>' : `<about ${minute} min>`;
}
