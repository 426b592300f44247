import { versions } from 'node:process';
import * as z from 'zod/mini';
import { clientFindings, ownProgramFinding } from './doctor/clients.ts';
import { clusterFindings } from './doctor/cluster.ts';
import { finding } from './doctor/finding.ts';
import { jobFindings } from './doctor/jobs.ts';
import {
  environmentFindings,
  koffiFinding,
  nodeFinding,
  platformFinding,
  programFindings,
  shellFindings,
  watchFinding,
} from './doctor/machine.ts';
import { placeFindings } from './doctor/places.ts';
import { searchPathFindings } from './doctor/search-path.ts';
import { defineOperation } from './operation.ts';

export const doctor = defineOperation({
  name: 'doctor',
  tool: 'doctor',
  title: 'Doctor',
  description:
    'Looks at everything that jobs need here, changes nothing, and names the cure for what is wrong: node, platform, where jobs lie, native calls, clients, what dead jobs left.',
  input: z.strictObject({}),
  output: z.object({
    healthy: z.boolean().check(z.describe('False where anything does not work.')),
    findings: z.array(finding),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: async (_input, caller) => {
    const nativeCalls = await koffiFinding();
    // Where they are needed and cannot be had, neither processes nor places nor jobs can be looked at.
    const blind = nativeCalls.verdict === 'problem';
    const findings = [
      nodeFinding(versions.node),
      ...(blind ? [] : [await platformFinding()]),
      ...programFindings(caller.entry),
      ownProgramFinding(caller),
      ...(blind ? [] : placeFindings(caller.env)),
      ...environmentFindings(caller.env),
      ...searchPathFindings(caller),
      nativeCalls,
      ...(await shellFindings(caller)),
      await watchFinding(),
      ...(await clusterFindings(caller)),
      ...clientFindings(caller),
      ...(blind ? [] : await jobFindings(caller)),
    ];
    return { healthy: findings.every(({ verdict }) => verdict !== 'problem'), findings };
  },
});
