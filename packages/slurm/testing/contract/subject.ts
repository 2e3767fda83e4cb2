import type { SlurmClient, SlurmClientOptions } from '../../src/client.ts';
import { signJwt } from '../../src/tokens/jwt.ts';
import type { MiniSlurm } from '../mini-slurm.ts';
import type { Simulator } from '../simulator/simulator.ts';
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
  /** slurmctld is killed; returns what brings it back. */
  killController(): Promise<() => Promise<void>>;
  stopDatabase(): Promise<() => Promise<void>>;
  /** Ends a node's slurmd as a shutdown does; returns what starts it again. */
  stopSlurmd(name: string): Promise<() => Promise<void>>;
  /** At least this long does a list wait for a slurmctld that is not there. */
  readonly blocksMs: number;
  stop(): Promise<void>;
}

export function realSubject(mini: MiniSlurm): Subject {
  const shared = mini.client();
  return {
    name: `Slurm ${mini.version}`,
    release: mini.version,
    server: mini.server,
    blocksMs: 5000,
    client: (options) => (options === undefined ? shared : mini.client(options)),
    token: (user, lifetime) => mini.token(user, lifetime),
    expiredToken: () =>
      signJwt({ key: mini.jwtKey, user: 'slurm', lifetimeSeconds: 60, now: Date.now() - 3_600_000 }),
    killController: async () => {
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
      const box = mini.nodes.get(name);
      if (box === undefined) throw new Error(`no slurmd ${name}`);
      await box.stop(2000);
      return () => box.start();
    },
    stop: () => mini.stop(),
  };
}

export function simulatedSubject(simulator: Simulator): Subject {
  const { cluster, faults } = simulator;
  const shared = simulator.client();
  return {
    name: `the simulator of ${cluster.release}`,
    release: cluster.release,
    server: simulator.server,
    blocksMs: 20,
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
      cluster.stopSlurmd(name);
      return Promise.resolve(() => {
        cluster.addNode(name);
        return Promise.resolve();
      });
    },
    stop: () => simulator.stop(),
  };
}
