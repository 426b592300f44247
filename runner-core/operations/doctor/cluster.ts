/** The Slurm cluster, where there is one or jobs are to run on one. */
import { existsSync, statfsSync } from 'node:fs';
import { messageOf } from '../../errors.ts';
import { supervisionFor } from '../../job/windows.ts';
import { ENGINE_ENV, NODE_PROGRAM_ENV, ROOT_ENV } from '../../limits.ts';
import { nodeProgram } from '../../platform/node-program.ts';
import { workplaceFor } from '../../store/roots.ts';
import type { Caller } from '../operation.ts';
import { findProgram } from './clients.ts';
import { type Finding, note, ok, problem, warning } from './finding.ts';

/** statfs(2), f_type: what is one machine's own, unless it exports it. */
const OWN_DISKS: Readonly<Record<number, string>> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs',
  2035054128: 'overlayfs',
  801189825: 'zfs',
};

export async function clusterFindings(caller: Caller): Promise<Finding[]> {
  const { env } = caller;
  const isChosen = env[ENGINE_ENV] === 'slurm';
  if (!isChosen && findProgram('sbatch', env) === undefined) return [];
  const missing = ['sbatch', 'squeue', 'scancel', 'scontrol'].filter((name) => !findProgram(name, env));
  if (missing.length > 0) {
    return [
      isChosen
        ? problem(
            'slurm',
            `${missing.join(', ')} not on PATH`,
            "Install slurm-client of the cluster's version.",
          )
        : note('slurm', `${missing.join(', ')} not on PATH: no jobs can be given to Slurm`),
    ];
  }
  const { askConfig } = await import('../../engine/slurm-ask.ts');
  const config = await askConfig(env);
  if ('why' in config) {
    const detail = `the cluster does not answer: ${config.why}`;
    return [
      isChosen
        ? problem(
            'slurm',
            detail,
            'See that slurmctld runs (scontrol ping) and that SLURM_CONF names its configuration.',
          )
        : note('slurm', detail),
    ];
  }
  return [
    ok('slurm', `cluster ${config.cluster}, Slurm ${config.version}`),
    ...(await nodeFindings(env)),
    proctrackFinding(config.proctrack),
    await killWaitFinding(config.killWaitSecs, env),
    baseFinding(env),
    programFinding(caller.entry),
  ];
}

async function nodeFindings(env: Caller['env']): Promise<Finding[]> {
  const { askNodes } = await import('../../engine/slurm-ask.ts');
  const nodes = await askNodes(env);
  if ('why' in nodes)
    return [warning('slurm', `its nodes cannot be told: ${nodes.why}`, 'Try sinfo yourself.')];
  const text = nodes.map(({ state, count }) => `${count} ${state}`).join(', ');
  const isUsable = nodes.some(({ state }) => /^(idle|mixed|allocated|completing)/.test(state));
  return [
    isUsable
      ? ok('slurm', `nodes: ${text}`)
      : warning(
          'slurm',
          `no node takes jobs now (${text || 'none'}): they will wait`,
          'sinfo -R tells why nodes are out.',
        ),
  ];
}

function proctrackFinding(proctrack: string | null): Finding {
  return proctrack?.includes('cgroup')
    ? ok('slurm', `${proctrack} holds all processes of a job`)
    : warning(
        'slurm',
        `ProctrackType=${proctrack}: what leaves the process tree of a job outlives it where its supervisor is killed`,
        'Set ProctrackType=proctrack/cgroup in slurm.conf.',
      );
}

async function killWaitFinding(killWaitSecs: number | null, env: Caller['env']): Promise<Finding> {
  const { graceWithin } = await import('../../engine/slurm-states.ts');
  const { grace } = supervisionFor(env, '');
  const within = graceWithin(killWaitSecs);
  return grace <= within
    ? ok('slurm', `KillWait ${killWaitSecs ?? '?'} s leaves room for a grace of ${grace} s`)
    : warning(
        'slurm',
        `KillWait is ${killWaitSecs} s: the grace of jobs is cut from ${grace} s to ${within} s there`,
        'Raise KillWait in slurm.conf, or give such jobs a shorter grace.',
      );
}

/** As far as it can be told: a disk of one machine may be exported, and all nodes may be this machine. */
function baseFinding(env: Caller['env']): Finding {
  const { base } = workplaceFor(env, '');
  try {
    const kind = OWN_DISKS[statfsSync(existsSync(base) ? base : '/').type];
    return kind === undefined
      ? ok('slurm', `${base} may be shared with the nodes`)
      : warning(
          'slurm',
          `${base} lies on ${kind}, which other machines do not see unless this one exports it`,
          `Point ${ROOT_ENV} at a directory of yours on a file system that all nodes share, under the same name.`,
        );
  } catch (error) {
    return note('slurm', `whether ${base} is shared cannot be told (${messageOf(error)})`);
  }
}

function programFinding(entry: string): Finding {
  return note(
    'slurm',
    `each node must have ${nodeProgram()} and ${entry} under these names`,
    `Install them there or on a shared file system; ${NODE_PROGRAM_ENV} names another node program.`,
  );
}
