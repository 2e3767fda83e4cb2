/** Puts the objects of `testdata/upstream` on an API server, as SlinkyProject/slurm-operator would have left them there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ApiServer } from '@slurm-operator/apiserver';
import {
  type Client,
  createClient,
  type KubeObject,
  kubeconfigConfig,
  nodes,
  pods,
  type Resource,
  timestamp,
} from '@slurm-operator/kube';
import type { Simulator } from '@slurm-operator/slurm/testing';
import { parse } from 'yaml';

export interface UpstreamManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
}
type Manifest = UpstreamManifest;

/** What a class of user has otherwise than the test data; undefined: they do not have it. */
export type Change = (manifest: UpstreamManifest) => UpstreamManifest | undefined;

const plurals: Readonly<Record<string, string>> = { NetworkPolicy: 'networkpolicies' };

export const resourceOf = ({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>): Resource => ({
  apiVersion,
  kind,
  plural: plurals[kind] ?? `${kind.toLowerCase()}s`,
  namespaced: true,
});

const read = (file: string): Manifest[] =>
  parse(readFileSync(join(import.meta.dirname, '../testdata/upstream', file), 'utf8'), {
    merge: true,
  }) as Manifest[];

export class UpstreamCluster {
  readonly #namespace: string;
  readonly #change: Change;
  readonly #uids = new Map<string, string>();
  readonly #made: UpstreamManifest[] = [];

  constructor(namespace: string, change: Change = (manifest) => manifest) {
    this.#namespace = namespace;
    this.#change = change;
  }

  /** What upstream's operator and Kubernetes made of the custom resources, workers aside. */
  get made(): readonly UpstreamManifest[] {
    return this.#made;
  }

  uidOf(kind: string, name: string): string {
    const uid = this.#uids.get(`${kind}/${name}`);
    if (uid === undefined) throw new Error(`the test data hold no ${kind} ${name}`);
    return uid;
  }

  /** What people wrote goes in as helm's, the rest as upstream's operator's. */
  async lay(server: ApiServer): Promise<void> {
    const config = await kubeconfigConfig({ text: server.kubeconfig() });
    const helm = createClient(config, { fieldManager: 'helm', userAgent: 'helm', rateLimit: false });
    const manager = createClient(config, { fieldManager: 'manager', userAgent: 'manager', rateLimit: false });
    const changed = (file: string) =>
      read(file)
        .map(this.#change)
        .filter((manifest) => manifest !== undefined);
    this.#made.push(...changed('made.yaml'));
    for (const manifest of changed('custom-resources.yaml')) await this.#create(helm, manifest);
    for (const manifest of this.#made) await this.#create(manager, manifest);
    for (let machine = 0; machine < 4; machine += 1) await addMachine(manager, machine);
    for (const [index, manifest] of changed('workers.yaml').entries()) {
      await this.#create(manager, manifest);
      await this.#start(manager, manifest, index);
    }
    helm.close();
    manager.close();
  }

  async #create(client: Client, manifest: Manifest): Promise<void> {
    const { ownerReferences: owners, ...metadata } = manifest.metadata;
    const ownerReferences = owners?.map((owner) => ({
      ...owner,
      uid: this.#uids.get(owner.uid) ?? owner.uid,
    }));
    const object = {
      ...manifest,
      metadata: {
        ...metadata,
        namespace: this.#namespace,
        ...(ownerReferences === undefined ? {} : { ownerReferences }),
      },
    };
    const created = await client.create(resourceOf(manifest), object as unknown as KubeObject);
    this.#uids.set(`${manifest.kind}/${metadata.name}`, created.metadata.uid);
  }

  /** The kubelet's part: an hour ago it started, and it has been ready since. */
  async #start(client: Client, { metadata: { name } }: Manifest, index: number): Promise<void> {
    const began = timestamp(Date.now() - 3_600_000);
    const status = {
      phase: 'Running',
      podIP: `10.244.0.${index + 10}`,
      podIPs: [{ ip: `10.244.0.${index + 10}` }],
      conditions: [
        { type: 'PodScheduled', status: 'True', lastTransitionTime: began },
        { type: 'Ready', status: 'True', lastTransitionTime: began },
      ],
      containerStatuses: [
        {
          name: 'slurmd',
          image: 'example.com/slurmd:25.11-ubuntu24.04',
          imageID: '',
          ready: true,
          restartCount: 0,
          started: true,
          state: { running: { startedAt: began } },
        },
      ],
    };
    const ref = { namespace: this.#namespace, name };
    await client.mergePatch(pods, ref, { status }, { subresource: 'status' });
  }
}

/** The kubelets' part while a test runs: without heartbeats the machines count as lost after 40 s. Ends with the signal. */
export async function keepMachinesAlive(client: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (let machine = 0; machine < 4; machine += 1) {
      const conditions = [heartbeat()];
      const ref = { name: `machine-${machine}` };
      await client.mergePatch(nodes, ref, { status: { conditions } }, { subresource: 'status' });
    }
    await wait(5000, undefined, { signal }).catch(() => undefined);
  }
}

const heartbeat = () => ({
  type: 'Ready',
  status: 'True',
  lastTransitionTime: timestamp(Date.now() - 3_600_000),
  lastHeartbeatTime: timestamp(Date.now()),
});

async function addMachine(client: Client, index: number): Promise<void> {
  const name = `machine-${index}`;
  const labels = { 'kubernetes.io/os': 'linux', pool: index < 2 ? 'gpu' : 'cpu' };
  // Several clusters may share the machines.
  if ((await client.find(nodes, { name })) !== undefined) return;
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
  await client.mergePatch(nodes, { name }, { spec: { taints: null } });
  await client.mergePatch(
    nodes,
    { name },
    { status: { conditions: [heartbeat()] } },
    { subresource: 'status' },
  );
}

/** The partitions that upstream's operator has written for its NodeSets, beside that of all nodes. */
export function addPartitions({ partitions }: Simulator['cluster'], features: readonly string[]): void {
  for (const name of features)
    partitions.set(name, { name, fromConfiguration: true, state: 'UP', features: [name] });
}
