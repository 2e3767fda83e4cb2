/**
 * Set-up of the fault tests: an embedded API server, a fault gateway in front of it, a cache behind the gateway, and the assertion that
 * server and cache become equal.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  Cache,
  type Client,
  type Clock,
  type ClusterConfig,
  type ConfigMap,
  configMaps,
  createClient,
  keyOf,
  kubeconfigConfig,
  type ReflectorTuning,
  systemClock,
} from '../src/index.ts';
import { FaultGateway } from './fault-gateway.ts';
import { until } from './until.ts';

export const FAST: ReflectorTuning = { backoff: { initial: 5, limit: 100 }, idle: 60_000, repairEvery: 0 };

/** The user agent of the client under test; faults are injected only for it. */
export const OURS = { userAgent: 'faulty' };

export interface World {
  server: ApiServer;
  gateway: FaultGateway;
  /** A client without faults. */
  user: Client;
}

/** `now`: the clock of the server. */
export async function setUp(t: TestContext, now: () => number = Date.now): Promise<World> {
  const server = await startApiServer({ environment: { now } });
  const { certificatePem: cert, keyPem: key } = server.admin;
  const gateway = await FaultGateway.start({ url: server.url, ca: server.caPem, cert, key });
  const user = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { rateLimit: false });
  t.after(async () => {
    user.close();
    await gateway.stop();
    await server.stop();
  });
  return { server, gateway, user };
}

/** A cache of ConfigMaps, behind the gateway unless another config is passed. */
export function follow(
  t: TestContext,
  { gateway }: Pick<World, 'gateway'>,
  tuning: ReflectorTuning = {},
  other: { config?: ClusterConfig; clock?: Clock } = {},
) {
  const clock = other.clock ?? systemClock;
  const client = createClient(other.config ?? gateway.config(), {
    userAgent: OURS.userAgent,
    rateLimit: false,
    retry: { initial: 2, limit: 20 },
    silence: 300,
    clock,
  });
  const cache = new Cache(client, { tuning: { ...FAST, ...tuning }, clock });
  const informer = cache.informer(configMaps);
  const stop = new AbortController();
  const running = cache.start(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    client.close();
  });
  // The state as a subscriber derives it from changes alone.
  const believed = new Map<string, string>();
  informer.subscribe((change) => {
    if (change.type === 'deleted') believed.delete(change.key);
    else believed.set(change.key, change.object.metadata.resourceVersion);
  });
  return { client, cache, informer, believed };
}

export const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});

const versions = (
  objects: Iterable<{ metadata: { name: string; namespace?: string; resourceVersion: string } }>,
) => new Map([...objects].map((object) => [keyOf(object), object.metadata.resourceVersion]));

/** Asserts that cache and subscriber become equal to the server. */
export async function settles(world: World, followed: ReturnType<typeof follow>): Promise<void> {
  const truth = versions((await world.user.list(configMaps)).items);
  const same = (held: Map<string, string>) =>
    held.size === truth.size && [...truth].every(([key, version]) => held.get(key) === version);
  try {
    await until('the cache equals the server', () => same(versions(followed.informer.list())));
  } catch {
    assert.deepEqual(versions(followed.informer.list()), truth);
  }
  assert.deepEqual(followed.believed, truth);
}

/** Creates, changes and deletes objects with another client. */
export async function churn({ user }: World, rounds: number, from = 0): Promise<void> {
  for (let i = from; i < from + rounds; i += 1) {
    const ref = { namespace: 'default', name: `o${i % 7}` };
    const found = await user.find(configMaps, ref);
    if (found === undefined) await user.create(configMaps, configMap(ref.name, { i: String(i) }));
    else if (i % 3 === 0) await user.delete(configMaps, ref);
    else await user.mergePatch(configMaps, ref, { data: { i: String(i) } });
  }
}
