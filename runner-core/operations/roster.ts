import { watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { settle } from '../engine/index.ts';
import type { JobState } from '../job/state.ts';
import { jobsIn, runFolders } from '../store/find.ts';
import { fileOf, jobIdOf, readMeta } from '../store/job-dir.ts';
import { candidateBases } from '../store/roots.ts';
import { lastLine } from './excerpt.ts';
import type { JobFilter, JobRow } from './fields.ts';
import type { Caller } from './operation.ts';
import { describeJob } from './report.ts';

/** Everything is looked at this often even if no event comes: a supervisor that was killed tells nobody. */
const TICK_MS = 5000;
/** Events that come close together are one. */
const GATHER_MS = 200;
/** The system's watchers are limited (fs.inotify.max_user_watches); beyond these the tick has to do. */
const WATCHERS_MAX = 400;

export interface RosterJob extends JobRow {
  readonly last_line: string | null;
  /** Epoch ms when the row was read: times in it are as of then. */
  readonly read_ms: number;
}

/** All jobs, kept up to date by the events of the file system. */
export interface Roster {
  /** Newest first. The same array until something changes. */
  rows(): readonly RosterJob[];
  /** Looks at everything now. */
  refresh(): Promise<void>;
  close(): void;
}

/** Opens a roster; `onChange` is called whenever `rows` gives something new. */
export async function openRoster(filter: JobFilter, caller: Caller, onChange: () => void): Promise<Roster> {
  const roster = new LiveRoster(filter, caller, onChange);
  await roster.refresh();
  return roster;
}

/** `grown` spares the question whether the supervisor lives: its log has just grown. */
type News = { readonly kind: 'all' } | { readonly kind: 'job' | 'grown'; readonly jobDir: string };

class LiveRoster implements Roster {
  readonly #filter: JobFilter;
  readonly #caller: Caller;
  readonly #onChange: () => void;
  readonly #jobs = new Map<string, RosterJob>();
  readonly #watchers = new Map<string, { readonly news: News; end(): void }>();
  #news: News[] = [];
  readonly #tick: NodeJS.Timeout;
  #gather: NodeJS.Timeout | undefined;
  #rows: readonly RosterJob[] = [];
  #working: Promise<void> | undefined;
  #closed = false;

  constructor(filter: JobFilter, caller: Caller, onChange: () => void) {
    this.#filter = filter;
    this.#caller = caller;
    this.#onChange = onChange;
    this.#tick = setInterval(() => this.#soon({ kind: 'all' }), TICK_MS);
  }

  rows(): readonly RosterJob[] {
    return this.#rows;
  }

  async refresh(): Promise<void> {
    await this.#working;
    this.#working = this.#look([{ kind: 'all' }]).finally(() => {
      this.#working = undefined;
    });
    await this.#working;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#tick);
    clearTimeout(this.#gather);
    for (const { end } of this.#watchers.values()) end();
    this.#watchers.clear();
  }

  #soon(news: News): void {
    if (this.#closed) return;
    this.#news.push(news);
    this.#gather ??= setTimeout(() => {
      this.#gather = undefined;
      void this.#lookAtNews();
    }, GATHER_MS);
  }

  /** One look at a time. */
  async #lookAtNews(): Promise<void> {
    await this.#working;
    if (this.#working || this.#news.length === 0) return;
    const news = this.#news;
    this.#news = [];
    this.#working = this.#look(news)
      .catch(() => {
        // A job that goes while it is read: the next look finds it gone.
      })
      .finally(() => {
        this.#working = undefined;
      });
    await this.#working;
    if (this.#news.length > 0) this.#soon({ kind: 'grown', jobDir: '' });
  }

  async #look(news: readonly News[]): Promise<void> {
    const asked = new Set(news.flatMap((one) => (one.kind === 'job' ? one.jobDir : [])));
    const grown = new Set(news.flatMap((one) => (one.kind === 'grown' ? one.jobDir : [])));
    if (news.some(({ kind }) => kind === 'all')) await this.#lookAtAll();
    else for (const jobDir of asked) if (this.#jobs.has(jobDir)) await this.#lookAt(jobDir);
    for (const jobDir of grown)
      if (this.#jobs.get(jobDir)?.state === 'running') this.#describe(jobDir, 'running');
    if (this.#closed) return;
    const rows = [...this.#jobs.values()].filter((job) => this.#isWanted(job));
    this.#rows = rows.sort((a, b) => (a.job_id < b.job_id ? 1 : -1));
    this.#onChange();
  }

  async #lookAtAll(): Promise<void> {
    const { skill, run_id } = this.#filter;
    const wanted = new Set<string>();
    const present = new Set<string>();
    for (const base of candidateBases(this.#caller.env)) wanted.add(base);
    for (const run of runFolders(this.#caller.env, skill)) {
      wanted.add(dirname(run.path));
      if (run_id !== undefined && run.runId !== run_id) continue;
      wanted.add(run.path);
      wanted.add(join(run.path, 'jobs'));
      for (const jobDir of jobsIn(run.path)) present.add(jobDir);
    }
    for (const jobDir of this.#jobs.keys()) if (!present.has(jobDir)) this.#forget(jobDir);
    for (const jobDir of present) if (!this.#isFinal(jobDir)) await this.#lookAt(jobDir);
    for (const [path, { news }] of this.#watchers) {
      if (news.kind === 'all' && !wanted.has(path)) this.#unwatch(path);
    }
    const before = this.#watchers.size;
    for (const folder of wanted) this.#watch(folder, { kind: 'all' });
    // What came into a folder before it was watched raised no event.
    if (this.#watchers.size > before) this.#soon({ kind: 'all' });
  }

  /** A settled job stays as it is. */
  #isFinal(jobDir: string): boolean {
    const state = this.#jobs.get(jobDir)?.state;
    return state !== undefined && state !== 'running' && state !== 'never-started' && state !== 'unreadable';
  }

  async #lookAt(jobDir: string): Promise<void> {
    const state = await settle(jobDir, this.#caller.entry);
    if (this.#closed) return;
    const label = this.#filter.label;
    if (label !== undefined && (state === 'unreadable' || readMeta(jobDir)?.label !== label)) return;
    this.#describe(jobDir, state);
    this.#watchJob(jobDir, state);
  }

  #describe(jobDir: string, state: JobState): void {
    this.#jobs.set(jobDir, {
      ...describeJob({ ref: jobIdOf(jobDir), jobDir }, state),
      last_line: state === 'unreadable' ? null : lastLine(jobDir),
      read_ms: Date.now(),
    });
  }

  /** A running job is watched for output and for its end; one that may be about to start, for its start. */
  #watchJob(jobDir: string, state: JobState): void {
    const watched = (path: string, states: readonly JobState[], kind: 'job' | 'grown'): void => {
      if (states.includes(state)) this.#watch(path, { kind, jobDir });
      else this.#unwatch(path);
    };
    watched(fileOf(jobDir, 'log'), ['running'], 'grown');
    watched(fileOf(jobDir, 'pid'), ['running'], 'job');
    watched(jobDir, ['never-started'], 'job');
  }

  #isWanted(job: RosterJob): boolean {
    return this.#filter.state === undefined || job.state === this.#filter.state;
  }

  #forget(jobDir: string): void {
    this.#jobs.delete(jobDir);
    for (const path of [fileOf(jobDir, 'log'), fileOf(jobDir, 'pid'), jobDir]) this.#unwatch(path);
  }

  #watch(path: string, news: News): void {
    if (this.#watchers.has(path) || this.#watchers.size >= WATCHERS_MAX) return;
    try {
      const watcher = watch(path, () => this.#soon(news));
      // A folder that goes ends its watch; the tick finds it when it comes back.
      watcher.on('error', () => this.#unwatch(path));
      this.#watchers.set(path, { news, end: () => watcher.close() });
    } catch {
      // No watcher to be had, or nothing there: the tick looks.
    }
  }

  #unwatch(path: string): void {
    this.#watchers.get(path)?.end();
    this.#watchers.delete(path);
  }
}
