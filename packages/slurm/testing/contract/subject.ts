import type { SlurmClient, SlurmClientOptions } from '../../src/client.ts';
import { signJwt } from '../../src/tokens/jwt.ts';
import type { MiniSlurm } from '../mini-slurm.ts';
import { readConfiguration } from '../simulator/simulated-configuration.ts';
import type { Simulator } from '../simulator/simulator.ts';
import { noLatency } from '../simulator/simulator-latency.ts';
import type { SlurmRelease } from '../slurm-rootfs.ts';

/** What the contract suite needs of a Slurm, real or simulated: n0, n1, n2 idle, partition "all", accounting. */
export interface Subject {
  readonly name: string;
  readonly release: SlurmRelease;
  readonly server: string;
  /** One client for all without options, a fresh one with any: slurmrestd stops accepting at 124 connections. */
  client(options?: Partial<SlurmClientOptions> & { readonly user?: string }): SlurmClient;
  token(user?: string, lifetimeSeconds?: number): string;
  /** A token that was good an hour ago. */
  expiredToken(): string;
  /** slurmctld is killed, with its state saved; returns what brings it back. */
  killController(): Promise<() => Promise<void>>;
  stopDatabase(): Promise<() => Promise<void>>;
  /** Ends a node's slurmd as a shutdown does; returns what starts it again. */
  stopSlurmd(name: string): Promise<() => Promise<void>>;
  /** A node's slurmd hangs: it neither answers nor ends. Returns what lets it go on. */
  pauseSlurmd(name: string): Promise<() => void>;
  /** Has slurmctld read its slurm.conf with these lines added; a key that it has already is replaced. */
  configure(lines: readonly string[]): Promise<void>;
  /** At least this long does a list or a write wait for a slurmctld that is not there. */
  readonly blocksMs: number;
  /** And the GET of a job: longer than a list does. */
  readonly jobBlocksMs: number;
  stop(): Promise<void>;
}

export function realSubject(mini: MiniSlurm): Subject {
  const shared = mini.client();
  const boxOf = (name: string) => {
    const box = mini.nodes.get(name);
    if (box === undefined) throw new Error(`no slurmd ${name}`);
    return box;
  };
  return {
    name: `Slurm ${mini.version}`,
    release: mini.version,
    server: mini.server,
    blocksMs: 5000, // it is nine to ten seconds
    jobBlocksMs: 15_000, // it is eighteen to twenty
    client: (options) => (options === undefined ? shared : mini.client(options)),
    token: (user, lifetime) => mini.token(user, lifetime),
    expiredToken: () =>
      signJwt({ key: mini.jwtKey, user: 'slurm', lifetimeSeconds: 60, now: Date.now() - 3_600_000 }),
    killController: async () => {
      await mini.saveState();
      await mini.controller.kill();
      return async () => {
        await mini.controller.start();
        await mini.controller.waitForPort(6817);
      };
    },
    stopDatabase: async () => {
      await mini.accounting.kill();
      return async () => {
        if (mini.accounting.running) return;
        await mini.accounting.start();
        await mini.accounting.waitForPort(6819);
      };
    },
    stopSlurmd: async (name) => {
      const box = boxOf(name);
      await box.stop(2000);
      return () => box.start();
    },
    pauseSlurmd: async (name) => {
      const box = boxOf(name);
      await box.pause();
      return () => box.resume();
    },
    configure: (lines) => mini.configure(lines),
    stop: () => mini.stop(),
  };
}

/** A timer may fire a little before its time. */
const timerSlack = 5;

export function simulatedSubject(simulator: Simulator): Subject {
  const { cluster, faults } = simulator;
  const shared = simulator.client();
  return {
    name: `the simulator of ${cluster.release}`,
    release: cluster.release,
    server: simulator.server,
    blocksMs: noLatency.controllerDown - timerSlack,
    jobBlocksMs: noLatency.controllerDownJob - timerSlack,
    client: (options) => (options === undefined ? shared : simulator.client(options)),
    token: (user, lifetime) => simulator.token(user, lifetime),
    expiredToken: () =>
      signJwt({ key: simulator.jwtKey, user: 'slurm', lifetimeSeconds: 60, now: Date.now() - 3_600_000 }),
    killController: () => {
      faults.controllerDown = true;
      return Promise.resolve(() => {
        faults.controllerDown = false;
        return Promise.resolve();
      });
    },
    stopDatabase: () => {
      faults.databaseDown = true;
      return Promise.resolve(() => {
        faults.databaseDown = false;
        return Promise.resolve();
      });
    },
    stopSlurmd: (name) => {
      if (cluster.nodes.has(name)) cluster.stopSlurmd(name); // a deleted node's slurmd runs all the same
      return Promise.resolve(() => {
        cluster.addNode(name, cluster.nodes.has(name) ? {} : { features: ['mini'] });
        return Promise.resolve();
      });
    },
    pauseSlurmd: (name) => {
      cluster.pauseSlurmd(name);
      return Promise.resolve(() => cluster.resumeSlurmd(name));
    },
    configure: (lines) => {
      readConfiguration(cluster, ['PartitionName=all Nodes=ALL Default=YES', ...lines].join('\n'));
      return Promise.resolve();
    },
    stop: () => simulator.stop(),
  };
}
