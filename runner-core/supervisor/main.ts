import { messageOf } from '../errors.ts';
import { shaped } from '../job/shape.ts';
import { platform } from '../platform/index.ts';
import { adopt } from './adopt.ts';
import { launch } from './launch.ts';
import { rehearse } from './rehearse.ts';
import { supervisorSpec } from './spec.ts';
import { supervise } from './supervise.ts';

/** The whole life of a supervisor process: reads its spec, gets hold of its worker, acknowledges, watches to the end. */
export async function runSupervisor(): Promise<void> {
  // Node opens a debugger's port to every local user at this signal, unless somebody listens for it.
  process.on('SIGUSR1', () => undefined);
  await platform.prepareToSupervise();
  const received = await platform.receiveSpec(rehearse);
  // This process was only to start the supervisor.
  if (!received) return;
  const { spec: text, acknowledge } = received;
  let supervised: Awaited<ReturnType<typeof launch>>;
  try {
    const spec = shaped(supervisorSpec, JSON.parse(text));
    if (!spec) throw new Error('the spec is none');
    supervised = spec.mode === 'start' ? await launch(spec) : await adopt(spec);
  } catch (error) {
    // The caller sent half a spec and died, the disk refused, or another adopter was faster: no worker is held.
    acknowledge(JSON.stringify({ ok: false, problem: messageOf(error) }));
    return;
  }
  acknowledge(JSON.stringify({ ok: true }));
  if (supervised) await supervise(supervised);
}
