/** The embedded API server with its controllers and nothing else: no nodes, no scheduler, no storage, no root needed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import { type Client, type Clock, createClient, Manager } from '@slurm-operator/kube';
import { addControllers } from '../src/controllers/index.ts';

export interface ControlPlane {
  readonly server: ApiServer;
  readonly manager: Manager;
  /** As the administrator. */
  createClient(): Client;
  stop(): Promise<void>;
}

export interface ControlPlaneOptions {
  readonly nodeGraceMs?: number;
  /** The range Services get their addresses from. */
  readonly serviceNetwork?: string;
  readonly podCollector?: { readonly everyMs?: number; readonly quarantineMs?: number };
  /** Of the controllers. @default the system's */
  readonly clock?: Clock;
}

export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { serviceNetwork } = options;
  const server = await startApiServer(serviceNetwork === undefined ? {} : { serviceNetwork });
  const directory = await mkdtemp(join(tmpdir(), 'control-plane-'));
  const identity = { ca: server.caPem, cert: server.admin.certificatePem, key: server.admin.keyPem };
  const config = { server: server.url, namespace: 'default', identity: () => Promise.resolve(identity) };
  const manager = new Manager(config, {
    name: 'kube-controller-manager',
    gracePeriod: 1000,
    client: { rateLimit: false },
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  addControllers(manager, {
    volumes: directory,
    ingress: (index) => `192.0.2.${index + 1}`,
    nodeGraceMs: options.nodeGraceMs,
    podCollector: options.podCollector,
  });
  const stopping = new AbortController();
  const running = manager.start(stopping.signal);
  await manager.cache.waitForSync({ timeout: 120_000 });
  return {
    server,
    manager,
    createClient: () => createClient(config, { userAgent: 'test' }),
    async stop() {
      stopping.abort();
      await running;
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
