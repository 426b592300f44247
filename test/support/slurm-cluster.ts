/** A Slurm cluster of two nodes for the time of a test file, in a directory of its own. As root or as anybody else. */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { killAs, Ledger } from './ledger.ts';
import { descendantsOf, identityOf, isAlive, listPids, openFilesOf, readEnviron, readStat } from './proc.ts';
import type { Argv } from './programs.ts';
import { cleanEnv, runProgram } from './run-cli.ts';
import {
  type ClusterOptions,
  freePorts,
  NODE_NAMES,
  type NodeName,
  placesOf,
  slurmConf,
} from './slurm-conf.ts';
import { Daemon } from './slurm-daemon.ts';
import { PATH } from './slurm-programs.ts';

/** A job as squeue tells it. */
export interface SlurmJob {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly reason: string;
  readonly node: string;
}

type ServiceName = 'munged' | 'slurmctld' | NodeName;

export class Cluster {
  readonly dir: string;
  /** What a caller of Slurm's commands needs: SLURM_CONF and PATH. */
  readonly env: Readonly<Record<string, string>>;
  readonly #places: ReturnType<typeof placesOf>;
  readonly #services = new Map<ServiceName, Daemon>();
  readonly #ledger: Ledger;

  private constructor(dir: string) {
    this.dir = dir;
    this.#places = placesOf(dir);
    this.env = { SLURM_CONF: this.#places.conf, PATH };
    this.#ledger = new Ledger(dir);
  }

  /** Boots it, and waits until both nodes are idle. */
  static async open(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(realpathSync(mkdtempSync(join(tmpdir(), 'peer-jobs-slurm-'))));
    try {
      await cluster.#boot(options);
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  async #boot(options: ClusterOptions): Promise<void> {
    const { conf, munge, socket, state, spool } = this.#places;
    for (const path of [munge, state, join(this.dir, 'log'), ...NODE_NAMES.map(spool)])
      mkdirSync(path, { recursive: true, mode: 0o755 });
    // Other users' jobs would read the configuration; munged wants to be reachable by them.
    chmodSync(this.dir, 0o755);
    writeFileSync(join(munge, 'key'), randomBytes(128), { mode: 0o600 });
    writeFileSync(conf, slurmConf(this.dir, await freePorts(1 + NODE_NAMES.length), options));
    const files = { 'key-file': 'key', socket: 'sock', 'pid-file': 'pid', 'seed-file': 'seed' };
    const flags = Object.entries(files).map(([flag, name]) => `--${flag}=${join(munge, name)}`);
    this.#serve('munged', ['munged', '--foreground', ...flags]);
    await this.#until('munged', () => existsSync(socket));
    await Promise.all([this.startController(), ...NODE_NAMES.map((node) => this.startNode(node))]);
  }

  #serve(name: ServiceName, argv: Argv): void {
    this.#services.set(name, new Daemon(argv, cleanEnv(this.env), this.#places.printed(name)));
  }

  async #until(name: ServiceName, probe: () => unknown): Promise<void> {
    await eventually(() => !this.#services.get(name)?.running || probe(), 120_000);
    this.#services.get(name)?.expectRunning();
  }

  /** Output of one of Slurm's commands; throws with what it said if it fails. */
  async slurm(...argv: Argv): Promise<string> {
    const run = await runProgram(argv, { env: cleanEnv(this.env), cwd: this.dir });
    if (run.code !== 0) throw new Error(`${argv.join(' ')} ended with ${run.code}: ${run.stderr}`);
    return run.stdout.toString('utf8').trimEnd();
  }

  /** Every job that the controller remembers. */
  async jobs(): Promise<SlurmJob[]> {
    const lines = (await this.slurm('squeue', '-h', '-t', 'all', '-o', '%i|%j|%T|%r|%N')).split('\n');
    return lines.filter(Boolean).map((line) => {
      const [id = '', name = '', state = '', reason = '', node = ''] = line.split('|');
      return { id, name, state, reason, node };
    });
  }

  /** Of a node, `idle`, `down*`, `draining` and the like. */
  async stateOf(node: NodeName): Promise<string> {
    return this.slurm('sinfo', '-h', '-N', '-n', node, '-o', '%T');
  }

  async stopController(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await this.#services.get('slurmctld')?.end(signal);
  }

  /** The controller as it was left, with what it had saved. */
  async startController(): Promise<void> {
    this.#serve('slurmctld', ['slurmctld', '-D']);
    await this.#until('slurmctld', async () => (await this.slurm('scontrol', 'ping')).includes('is UP'));
  }

  async startNode(node: NodeName): Promise<void> {
    this.#serve(node, ['slurmd', '-D', '-N', node]);
    await this.#until(node, async () => /^(idle|mixed|allocated)$/.test(await this.stateOf(node)));
  }

  /** Ends slurmd alone, as a crash would: what it has running goes on. */
  async stopNode(node: NodeName): Promise<void> {
    await this.#services.get(node)?.end('SIGKILL');
  }

  /** The power is cut: slurmd, the watchers of its jobs, and every process that these have. The controller is told. */
  async loseNode(node: NodeName): Promise<void> {
    await this.stopNode(node);
    // The watchers come first in the list: one that saw its job end would report that.
    await eventually(() => {
      const left = this.processesOn(node).map((pid) => ({ pid, identity: identityOf(pid) }));
      for (const { pid, identity } of left) if (identity !== undefined) killAs(pid, identity);
      return left.length === 0;
    });
    await this.slurm('scontrol', 'update', `nodename=${node}`, 'state=down', 'reason=test');
  }

  /** Pids of slurmstepd on a node, and of everything that its jobs started. */
  processesOn(node: NodeName): number[] {
    const steps = listPids().filter((pid) => isStepOf(pid, this.#places.log(node)));
    const members = listPids().filter((pid) => {
      const environ = readEnviron(pid);
      return environ?.get('SLURMD_NODENAME') === node && environ.get('SLURM_CONF') === this.#places.conf;
    });
    return [...new Set([...steps, ...steps.flatMap(descendantsOf), ...members])].filter(isAlive);
  }

  /** New jobs go elsewhere; what runs there may end. */
  async drain(node: NodeName): Promise<void> {
    await this.slurm('scontrol', 'update', `nodename=${node}`, 'state=drain', 'reason=test');
  }

  async resume(node: NodeName): Promise<void> {
    await this.slurm('scontrol', 'update', `nodename=${node}`, 'state=resume');
  }

  /** Occupies both nodes until the function that it gives is called. */
  async occupy(): Promise<() => Promise<void>> {
    const script = join(this.dir, 'occupies.sh');
    writeFileSync(script, '#!/bin/sh\nexec sleep 600\n', { mode: 0o755 });
    const flags = ['--parsable', '-N', '2', '--exclusive', '-o', '/dev/null'];
    const id = await this.slurm('sbatch', ...flags, '--job-name=occupies', script);
    const state = async () => (await this.jobs()).find((job) => job.id === id)?.state;
    await eventually(async () => (await state()) === 'RUNNING');
    let occupied = true;
    return async () => {
      if (!occupied) return;
      occupied = false;
      await this.slurm('scancel', id);
      await eventually(async () => (await state()) === 'CANCELLED');
    };
  }

  /** Ends everything and removes its directory. Fails if a process is left that nobody ended. */
  async close(): Promise<void> {
    try {
      if (this.#services.get('slurmctld')?.running) await this.#cancelAll();
      for (const name of [...NODE_NAMES, 'slurmctld', 'munged'] as const)
        await this.#services.get(name)?.end('SIGTERM');
      await this.#ledger.close();
    } finally {
      rmSync(this.dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    }
  }

  async #cancelAll(): Promise<void> {
    await this.slurm('scancel', '-u', userInfo().username);
    // The last one of a lost node is never done with; then the ledger takes over.
    await eventually(async () => (await this.slurm('squeue', '-h')) === '', 8_000).catch(() => undefined);
  }
}

/** A cluster for the time of `part`. */
export async function withCluster(
  options: ClusterOptions,
  part: (cluster: Cluster) => Promise<void>,
): Promise<void> {
  const cluster = await Cluster.open(options);
  try {
    await part(cluster);
  } finally {
    await cluster.close();
  }
}

/** slurmstepd puts its job in place of its arguments and environment; the log that it writes to tells of which node it is. */
function isStepOf(pid: number, log: string): boolean {
  return readStat(pid)?.command === 'slurmstepd' && [...openFilesOf(pid).values()].includes(log);
}
