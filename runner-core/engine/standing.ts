import { readClaim, readEngine } from '../store/engine-files.ts';
import type { EngineStanding } from './port.ts';

/** What engines said last of their jobs, for whoever describes them: a row must not ask anybody. */
const heard = new Map<string, Pick<EngineStanding, 'state' | 'detail'>>();
const HEARD_MAX = 20_000;

export function hear(jobDir: string, said: Pick<EngineStanding, 'state' | 'detail'>): void {
  if (heard.size >= HEARD_MAX) heard.clear();
  heard.set(jobDir, said);
}

/** How a job stands with its engine: what its directory tells, and what was heard in this process. */
export function standingOf(jobDir: string, isRunning: boolean): EngineStanding | null {
  const record = readEngine(jobDir);
  if (!record) return null;
  const claim = readClaim(jobDir);
  const said = isRunning ? heard.get(jobDir) : undefined;
  return {
    name: record.engine,
    id: record.engine_id ?? claim?.engine_id ?? null,
    cluster: record.cluster ?? null,
    host: claim?.by === 'supervisor' ? (claim.host ?? null) : null,
    // Its supervisor takes a moment to start.
    queued: isRunning && claim === undefined && said?.state !== 'RUNNING',
    state: said?.state ?? null,
    detail: said?.detail ?? null,
  };
}
