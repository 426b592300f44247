import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect } from 'vitest';
import { RunnerError } from '../../../runner-core/errors.ts';
import { findJob, jobsIn, rememberPlace, runFolders } from '../../../runner-core/store/find.ts';
import { texts } from '../texts.ts';
import { isSuperuser, JOB_ID, makeJob, test } from './directory.ts';

if (isSuperuser) console.log('skipped: no folder is closed to the superuser, so none can be tested');

const OTHER_ID = '20261130T121741Z-ffffffff';

function lookIn(dir: string, more: Readonly<Record<string, string>> = {}) {
  return { env: { CE_PEER_JOBS_ROOT: join(dir, 'base'), ...more }, cwd: dir };
}

function failureOf(ref: string, options: Parameters<typeof findJob>[1]): RunnerError {
  try {
    const found = findJob(ref, options);
    throw new Error(`${ref} was found: ${found}`);
  } catch (error) {
    if (error instanceof RunnerError) return error;
    throw error;
  }
}

describe('a job id', () => {
  test('is found in any skill and run, or in the skill that is given', ({ dir }) => {
    const job = makeJob(join(dir, 'base', 's', 'r'));
    makeJob(join(dir, 'base', 'other', 'r'), {}, OTHER_ID);
    expect(findJob(JOB_ID, lookIn(dir))).toBe(job);
    expect(findJob(JOB_ID, { ...lookIn(dir), skill: 's' })).toBe(job);
    expect(failureOf(JOB_ID, { ...lookIn(dir), skill: 'other' }).kind).toBe('unknown');
  });

  test('of nobody is unknown, and the places that were searched are named', ({ dir }) => {
    const error = failureOf(JOB_ID, lookIn(dir));
    expect(error.kind).toBe('unknown');
    expect(error.message).toContain(join(dir, 'base'));
  });

  test('is matched as text, never as a pattern or a part of a name', ({ dir }) => {
    makeJob(join(dir, 'base', 's', 'r'));
    for (const ref of [JOB_ID.slice(0, -1), JOB_ID.toUpperCase(), `${JOB_ID}x`, '20261130T121741Z'])
      expect(failureOf(ref, lookIn(dir)).kind).toBe('unknown');
  });

  test.for([
    '*',
    '2026*',
    '[2]0261130T121741Z-0a1b2c3d',
    '?',
    '.',
    '..',
    '...',
    '\\',
    'a b',
    'x\n',
    '~',
    '-'.repeat(300),
  ])('is never %j: refused as no id at all, with what to give', (ref, { dir }) => {
    makeJob(join(dir, 'base', 's', 'r'));
    const error = failureOf(ref, lookIn(dir));
    expect(error.kind).toBe('invalid');
    expect(error.message).toContain('give a job id or the path');
  });

  test('in a skill whose name none can have is refused', ({ dir }) => {
    expect(failureOf(JOB_ID, { ...lookIn(dir), skill: '../x' }).kind).toBe('invalid');
  });

  test('that two runs hold is ambiguous, and neither is chosen', ({ dir }) => {
    makeJob(join(dir, 'base', 's', 'r1'));
    makeJob(join(dir, 'base', 's', 'r2'));
    expect(failureOf(JOB_ID, lookIn(dir)).message).toContain('ambiguous job id');
  });

  test('that is reached by two names of one place is one job', ({ dir }) => {
    const job = makeJob(join(dir, 'base', 'ce-work', 'r'));
    symlinkSync(join(dir, 'base'), join(dir, 'link'));
    const env = { CE_WORK_RUNS_ROOT: join(dir, 'link', 'ce-work') };
    expect(findJob(JOB_ID, lookIn(dir, env))).toBe(job);
  });

  test('is found where ce-work keeps its runs, also without the skill', ({ dir }) => {
    const env = { CE_WORK_RUNS_ROOT: join(dir, 'work') };
    const job = makeJob(join(dir, 'work', 'r'));
    expect(findJob(JOB_ID, lookIn(dir, env))).toBe(job);
    expect(findJob(JOB_ID, { ...lookIn(dir, env), skill: 'ce-work' })).toBe(job);
  });

  test('that is a link is found, so that it can be told as unreadable', ({ dir }) => {
    const job = makeJob(join(dir, 'base', 's', 'r'), {}, OTHER_ID);
    symlinkSync(job, join(dir, 'base', 's', 'r', 'jobs', JOB_ID));
    expect(findJob(JOB_ID, lookIn(dir))).toBe(join(dir, 'base', 's', 'r', 'jobs', JOB_ID));
  });

  test.for(['base/s', 'base/s/r', 'base/s/r/jobs'])('is not found behind a link at %s', (level, { dir }) => {
    makeJob(join(dir, 'real', 's', 'r'));
    mkdirSync(join(dir, level, '..'), { recursive: true });
    symlinkSync(join(dir, level.replace('base', 'real')), join(dir, level));
    expect(failureOf(JOB_ID, lookIn(dir)).kind).toBe('unknown');
  });

  test.for(['base/s', 'base/s/r', 'base/s/r/jobs'])(
    'that was found before is not found once a link lies at %s',
    (level, { dir }) => {
      const job = makeJob(join(dir, 'base', 's', 'r'));
      expect([findJob(JOB_ID, lookIn(dir)), findJob(JOB_ID, lookIn(dir))]).toEqual([job, job]);
      renameSync(join(dir, level), join(dir, 'moved'));
      symlinkSync(join(dir, 'moved'), join(dir, level));
      expect(failureOf(JOB_ID, lookIn(dir)).kind).toBe('unknown');
    },
  );

  test('that was remembered behind a link is not found by that', ({ dir }) => {
    const job = makeJob(join(dir, 'base', 's', 'r'));
    renameSync(join(dir, 'base', 's', 'r'), join(dir, 'moved'));
    symlinkSync(join(dir, 'moved'), join(dir, 'base', 's', 'r'));
    rememberPlace(job);
    expect(failureOf(JOB_ID, lookIn(dir)).kind).toBe('unknown');
  });

  test('that was found before is found in the run to which it was moved', ({ dir }) => {
    const job = makeJob(join(dir, 'base', 's', 'r'));
    expect(findJob(JOB_ID, lookIn(dir))).toBe(job);
    renameSync(join(dir, 'base', 's', 'r'), join(dir, 'base', 's', 'r2'));
    expect(findJob(JOB_ID, lookIn(dir))).toBe(join(dir, 'base', 's', 'r2', 'jobs', JOB_ID));
  });

  test('that nothing can be found by never throws anything but a refusal, for any text', ({ dir }) => {
    makeJob(join(dir, 'base', 's', 'r'));
    fc.assert(
      fc.property(texts({ maxLength: 40 }), (ref) => {
        if (ref !== JOB_ID) expect(['unknown', 'invalid']).toContain(failureOf(ref, lookIn(dir)).kind);
      }),
    );
  });
});

describe('a path', () => {
  test('names the job whose directory it is: absolute, relative, untidy, with a slash at its end', ({
    dir,
  }) => {
    const job = makeJob(join(dir, 'anywhere', 'r'));
    for (const ref of [job, `${job}/`, relative(dir, job), `./${relative(dir, job)}`, `${job}/../${JOB_ID}`])
      expect(findJob(ref, lookIn(dir))).toBe(job);
  });

  test('is accepted whatever skill is given', ({ dir }) => {
    const job = makeJob(join(dir, 'base', 's', 'r'));
    expect(findJob(job, { ...lookIn(dir), skill: 'other' })).toBe(job);
  });

  test('names also a job directory that was kept under another name, told by its record', ({ dir }) => {
    const job = makeJob(join(dir, 'kept'), { 'meta.json': { job_id: JOB_ID } }, 'first-try');
    expect(findJob(job, lookIn(dir))).toBe(job);
  });

  test('of a directory that is no job is unknown, also with a meta.json of something else', ({ dir }) => {
    mkdirSync(join(dir, 'project'));
    expect(failureOf(join(dir, 'project'), lookIn(dir)).kind).toBe('unknown');
    for (const text of ['{"name": "project"}', 'oops', '[]']) {
      writeFileSync(join(dir, 'project', 'meta.json'), text);
      expect(failureOf(join(dir, 'project'), lookIn(dir)).kind, text).toBe('unknown');
    }
  });

  test.for([
    '/',
    '/nonexistent/x',
    './',
    'a/b',
    '/dev/null',
    '/etc/hostname/x',
    `/${'x'.repeat(300)}`,
    '/\0',
    'a/\0b',
  ])('that leads to no job is unknown, one line: %j', (ref, { dir }) => {
    const error = failureOf(ref, lookIn(dir));
    expect(error.kind).toBe('unknown');
    expect(error.message).not.toContain('\n');
  });

  test('through a ring of links is unknown', ({ dir }) => {
    symlinkSync(join(dir, 'ring'), join(dir, 'ring'));
    expect(failureOf(join(dir, 'ring', JOB_ID), lookIn(dir)).kind).toBe('unknown');
  });

  test.skipIf(isSuperuser)('through a folder that is closed to us is unknown', ({ dir }) => {
    const job = makeJob(join(dir, 'closed'));
    chmodSync(join(dir, 'closed'), 0);
    try {
      expect(failureOf(job, lookIn(dir)).kind).toBe('unknown');
    } finally {
      chmodSync(join(dir, 'closed'), 0o700);
    }
  });

  test('of a link to a job directory is found, so that it can be told as unreadable', ({ dir }) => {
    const job = makeJob(join(dir, 'r'));
    symlinkSync(job, join(dir, OTHER_ID));
    expect(findJob(`./${OTHER_ID}`, lookIn(dir))).toBe(join(dir, OTHER_ID));
  });
});

describe('looking through everything', () => {
  test('sees every run of every skill once, and passes over files, links and what a sweep hid', ({ dir }) => {
    for (const path of ['s/r1', 's/r2', 'ce-work/r3']) makeJob(join(dir, 'base', path));
    mkdirSync(join(dir, 'base', 's', '.sweep-0a1b2c3d', 'jobs', JOB_ID), { recursive: true });
    writeFileSync(join(dir, 'base', 's', 'notes.txt'), '');
    symlinkSync(join(dir, 'base', 's', 'r1'), join(dir, 'base', 's', 'link'));
    symlinkSync(join(dir, 'base', 's'), join(dir, 'base', 'alias'));
    const env = { CE_PEER_JOBS_ROOT: join(dir, 'base'), CE_WORK_RUNS_ROOT: join(dir, 'base', 'ce-work') };
    const seen = [...runFolders(env)].map(({ skill, runId }) => `${skill}/${runId}`);
    expect(seen.sort()).toEqual(['ce-work/r3', 's/r1', 's/r2']);
    expect([...runFolders(env, 's')].map(({ runId }) => runId).sort()).toEqual(['r1', 'r2']);
  });

  test('of no base sees nothing', ({ dir }) => {
    expect([...runFolders({ CE_PEER_JOBS_ROOT: join(dir, 'absent') })]).toEqual([]);
    rmSync(dir, { recursive: true });
    expect(jobsIn(join(dir, 'r'))).toEqual([]);
  });

  test('sees the job directories of a run, and follows no link among or above them', ({ dir }) => {
    const job = makeJob(join(dir, 'r'));
    writeFileSync(join(dir, 'r', 'jobs', 'file'), '');
    symlinkSync(job, join(dir, 'r', 'jobs', OTHER_ID));
    expect(jobsIn(join(dir, 'r'))).toEqual([job]);
    mkdirSync(join(dir, 'planted'));
    symlinkSync(join(dir, 'r', 'jobs'), join(dir, 'planted', 'jobs'));
    expect(jobsIn(join(dir, 'planted'))).toEqual([]);
  });
});
