import { closeSync, readFileSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import { win32 } from './win32-api.ts';
import { closeAll } from './win32-create.ts';
import { endsWithAnOuterJob } from './win32-job.ts';
import { markAsSupervisor } from './win32-marks.ts';
import { identify } from './win32-process.ts';
import { BREAKAWAY_ENV, PIPES_ENV, RELAY_ENV, startSelf } from './win32-self.ts';

const HANDLE_FLAG_INHERIT = 1;

interface Received {
  readonly spec: string;
  acknowledge(line: string): void;
}

/**
 * In a process that was started as a supervisor: the spec; or undefined in the relay, which has started the supervisor
 * and is to end.
 */
export function receiveSpec(): Received | undefined {
  const api = win32();
  const [input = 0, output = 0] = (process.env[PIPES_ENV] ?? '').split(',').map(Number);
  const entry = process.env[RELAY_ENV];
  if (entry !== undefined) {
    const env = { [PIPES_ENV]: `${input},${output}`, [BREAKAWAY_ENV]: process.env[BREAKAWAY_ENV] ?? '' };
    const { pid, process: supervisor, thread } = startSelf(entry, env, [input, output]);
    const answer = api.uv_open_osfhandle(output);
    tell(answer, `supervisor ${pid} ${identify(pid) ?? ''}`);
    closeAll(supervisor, thread);
    return undefined;
  }
  const mark = markAsSupervisor();
  // Ours alone from here on: no worker may inherit them.
  for (const end of [input, output]) api.SetHandleInformation(end, HANDLE_FLAG_INHERIT, 0);
  const reader = api.uv_open_osfhandle(input);
  const writer = api.uv_open_osfhandle(output);
  const spec = readFileSync(reader, 'utf8');
  closeSync(reader);
  mark(jobIdIn(spec));
  return {
    spec,
    acknowledge: (line) => {
      tell(writer, line);
      closeSync(writer);
    },
  };
}

/** The mark only spares this supervisor; whether the spec is sound is for others to say. */
function jobIdIn(spec: string): string {
  const jobDir = /"jobDir":("(?:[^"\\]|\\.)*")/.exec(spec)?.[1];
  return jobDir === undefined ? '' : basename(String(JSON.parse(jobDir)));
}

function tell(fd: number, line: string): void {
  try {
    writeSync(fd, `${line}\n`);
  } catch {
    // The caller is dead. The job is not.
  }
}

/** Whether this supervisor outlives the job objects around its caller, for the record. */
export function detachment(): string {
  if (endsWithAnOuterJob()) return 'ends with the job object of its caller';
  return process.env[BREAKAWAY_ENV] === 'refused' ? 'inside the job object of its caller' : 'free';
}
