import { RunnerError } from '../runner-core/index.ts';
import { DOCTOR_URI } from './doctor.ts';

const PATH_SHOWN_MAX = 500;

type Environment = Readonly<Record<string, string | null | undefined>>;

/**
 * A program that the user has may be missing for a server, which its client starts with an environment of its own. So
 * whoever is told that nothing was found is told where that was.
 */
export function whereItLooked(
  error: Error,
  input: { env?: Environment | undefined },
  caller: { env: Environment; cwd: string },
): string | undefined {
  if (!(error instanceof RunnerError) || error.kind !== 'preflight') return undefined;
  const path = input.env?.PATH ?? caller.env.PATH ?? caller.env.Path ?? '';
  const shown = path.length > PATH_SHOWN_MAX ? `${path.slice(0, PATH_SHOWN_MAX)}…` : path;
  return `It was looked for in PATH ${shown || '(not set)'} and from folder ${caller.cwd}; env and cwd change that for a job. More: read the resource ${DOCTOR_URI}.`;
}
