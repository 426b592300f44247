/**
 * How a supervisor is told from any other node.exe: it holds a small piece of named memory, `…-<its pid>`, with the id
 * of its job. The name goes with the process.
 */
import { INVALID_HANDLE, win32 } from './win32-api.ts';
import { identify, listProcesses } from './win32-process.ts';

const PAGE_READWRITE = 0x4;
const MAP_WRITE = 0x2;
const MAP_READ = 0x4;
const MARK_BYTES = 512;

function nameOf(pid: number): string {
  return `Local\\peer-jobs-supervisor-${pid}`;
}

/** What stands for a supervisor that still waits to be told its job. */
const WAITING = '-';

/** Marks this process for as long as it lives. Gives what adds the id of its job. */
export function markAsSupervisor(): (jobId: string) => void {
  const api = win32();
  const mapping = api.CreateFileMappingW(
    INVALID_HANDLE,
    null,
    PAGE_READWRITE,
    0,
    MARK_BYTES,
    nameOf(process.pid),
  );
  const view = mapping === 0 ? 0 : api.MapViewOfFile(mapping, MAP_WRITE, 0, 0, MARK_BYTES);
  const mark = (text: string): void => {
    if (view === 0) return;
    const bytes = Buffer.alloc(MARK_BYTES);
    bytes.write(text, 0, MARK_BYTES - 1);
    api.writeMemory(view, bytes, MARK_BYTES);
  };
  mark(WAITING);
  return mark;
}

/** The job that a process supervises, if it is a supervisor; `-` as long as it waits to be told one. */
export function supervises(pid: number): string | undefined {
  const api = win32();
  const mapping = api.OpenFileMappingW(MAP_READ, 0, nameOf(pid));
  if (mapping === 0) return undefined;
  try {
    const view = api.MapViewOfFile(mapping, MAP_READ, 0, 0, MARK_BYTES);
    if (view === 0) return undefined;
    const text = Buffer.alloc(MARK_BYTES);
    api.readMemory(text, view, MARK_BYTES);
    api.UnmapViewOfFile(view);
    return text.toString('utf8').split('\0', 1)[0] || undefined;
  } finally {
    api.CloseHandle(mapping);
  }
}

export function findSupervisor(jobId: string): { pid: number; identity: string | undefined } | undefined {
  const row = listProcesses().find((candidate) => supervises(candidate.pid) === jobId);
  return row && { pid: row.pid, identity: identify(row.pid) };
}
