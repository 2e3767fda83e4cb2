/** Puts the objects of `testdata/upstream` on an API server, as SlinkyProject/slurm-operator would have left them there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
import { parse } from 'yaml';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
}

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
  readonly #uids = new Map<string, string>();

  constructor(namespace: string) {
    this.#namespace = namespace;
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
    for (const manifest of read('custom-resources.yaml')) await this.#create(helm, manifest);
    for (const manifest of read('made.yaml')) await this.#create(manager, manifest);
    for (let machine = 0; machine < 4; machine += 1) await addMachine(manager, machine);
    for (const [index, manifest] of read('workers.yaml').entries()) {
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

async function addMachine(client: Client, index: number): Promise<void> {
  const name = `machine-${index}`;
  const labels = { 'kubernetes.io/os': 'linux', pool: index < 2 ? 'gpu' : 'cpu' };
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
  await client.mergePatch(nodes, { name }, { spec: { taints: null } });
  const [since, now] = [timestamp(Date.now() - 3_600_000), timestamp(Date.now())];
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: since, lastHeartbeatTime: now }];
  await client.mergePatch(nodes, { name }, { status: { conditions } }, { subresource: 'status' });
}
