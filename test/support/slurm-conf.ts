/** The configuration of a test's Slurm cluster: two nodes that are both this machine, all on 127.0.0.1. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';

export const NODE_NAMES = ['n1', 'n2'] as const;
export type NodeName = (typeof NODE_NAMES)[number];

export interface ClusterOptions {
  /** How long the controller remembers a job that has ended; Slurm's own default is 300. */
  readonly minJobAgeSecs?: number;
  /** From TERM to KILL. */
  readonly killWaitSecs?: number;
  /** More jobs than that are not accepted. */
  readonly maxJobCount?: number;
  /** After a node was lost, its jobs are queued again (slurm.conf's JobRequeue), unless a job forbids it. */
  readonly requeues?: boolean;
}

/** Paths of one cluster below its directory. */
export const placesOf = (dir: string) => ({
  conf: join(dir, 'slurm.conf'),
  munge: join(dir, 'munge'),
  socket: join(dir, 'munge/sock'),
  state: join(dir, 'state'),
  spool: (node: NodeName) => join(dir, 'spool', node),
  /** What a service, and whatever watches the jobs of a node, tells of itself. */
  log: (service: string) => join(dir, 'log', `${service}.log`),
  printed: (service: string) => join(dir, 'log', `${service}.printed`),
});

/** Text of slurm.conf. `ports`: of the controller and of each node. */
export function slurmConf(
  dir: string,
  [controller, ...nodes]: readonly number[],
  options: ClusterOptions,
): string {
  const host = hostname().replace(/\..*/, '');
  const user = userInfo().username;
  const { state, socket, log } = placesOf(dir);
  return `ClusterName=ci
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${controller}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthInfo=socket=${socket}
SlurmUser=${user}
SlurmdUser=${user}
StateSaveLocation=${state}
SlurmdSpoolDir=${dir}/spool/%n
SlurmctldPidFile=${dir}/slurmctld.pid
SlurmdPidFile=${dir}/slurmd-%n.pid
SlurmctldLogFile=${log('slurmctld')}
SlurmdLogFile=${log('%n')}
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
AccountingStorageType=accounting_storage/none
MinJobAge=${options.minJobAgeSecs ?? 300}
KillWait=${options.killWaitSecs ?? 3}
MaxJobCount=${options.maxJobCount ?? 1000}
SlurmdTimeout=15
ReturnToService=2
JobRequeue=${options.requeues ? 1 : 0}
SlurmdParameters=config_overrides
${NODE_NAMES.map((name, index) => `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${nodes[index]} CPUs=2 RealMemory=1000`).join('\n')}
PartitionName=main Nodes=${NODE_NAMES.join()} Default=YES MaxTime=INFINITE State=UP
`;
}

const PORTS = { from: 18_000, each: 1_000, shares: 12 };

/**
 * Ports that nobody listens on, below those that the system gives to outgoing connections (ip_local_port_range). Whoever
 * runs test files at the same time looks in another share: nobody listens yet on what the other has just found.
 */
export async function freePorts(count: number): Promise<number[]> {
  const share = Number(process.env.VITEST_POOL_ID ?? 0) % PORTS.shares;
  const from = PORTS.from + share * PORTS.each;
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(from, from + PORTS.each);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
