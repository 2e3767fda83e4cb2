/** A run of the cluster tests on a given cluster: what is asked before the first test, and shown after the last. */
import { randomBytes } from 'node:crypto';
import { checkImages, connect, demoImages } from '@slurm-operator/demo';
import { type Client, namespaces, nodes } from '@slurm-operator/kube';
import { until } from '../until.ts';
import { added, clusterContents } from './cluster-contents.ts';
import { localClusterOf } from './given-cluster.ts';
import { checkGround, createNamespace } from './ground.ts';
import { marksLeft, ownership } from './ownership.ts';

export interface GivenRunOptions {
  /** The value of KUBECONFIG. */
  readonly kubeconfig: string;
  readonly registry: string;
  readonly say: (line: string) => void;
}

export interface GivenRun {
  /** For the processes of the tests. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<GivenResult>;
}

export interface GivenResult {
  /** What the tests created and did not remove. */
  readonly left: readonly string[];
  /** Objects that others created and removed meanwhile. */
  readonly byOthers: { readonly created: number; readonly removed: number };
}

/** Throws with the reason when the tests cannot run there. */
export async function openGivenRun({ kubeconfig, registry, say }: GivenRunOptions): Promise<GivenRun> {
  const client = await connect(kubeconfig);
  await checkGround(client);
  const { items } = await client.list(nodes);
  const schedulable = items.filter(
    ({ spec }) => spec?.unschedulable !== true && (spec?.taints ?? []).length === 0,
  );
  const before = await clusterContents(client);
  const isLocal = registry === '' && (await localClusterOf(kubeconfig)) !== undefined;
  say(`${schedulable.length} nodes that take pods, ${before.size} objects`);
  say(
    isLocal
      ? 'a localcluster of this machine: the tests load their images into it'
      : `images: ${registry === '' ? 'on its nodes' : `from ${registry}`}`,
  );
  if (!isLocal) await checkAllImages(client, registry, say);
  const runId = randomBytes(6).toString('hex');
  const settled = async (): Promise<GivenResult> => {
    const now = await clusterContents(client);
    const { isOurs } = ownership(runId, now.values());
    const created = added(before, now);
    const ours = created.filter(isOurs).map(({ path }) => path);
    return {
      left: [...ours, ...marksLeft(before, now)],
      byOthers: { created: created.length - ours.length, removed: added(now, before).length },
    };
  };
  return {
    env: {
      GIVEN_KUBECONFIG: kubeconfig,
      GIVEN_RUN: runId,
      GIVEN_NODES: String(schedulable.length),
      GIVEN_LOADS_IMAGES: isLocal ? '1' : '0',
    },
    async close() {
      // What a deleted object owned is collected a moment after it.
      await until('nothing is left', async () => (await settled()).left.length === 0, {
        seconds: 60,
        everyMs: 1_000,
      }).catch(() => {});
      const result = await settled();
      client.close();
      return result;
    },
  };
}

async function checkAllImages(client: Client, registry: string, say: (line: string) => void): Promise<void> {
  const name = 'team';
  await createNamespace(client, name);
  try {
    await checkImages(client, { namespace: name, images: demoImages(registry), say });
  } finally {
    await client.delete(namespaces, { name });
    await until('its namespace is gone', async () => (await client.find(namespaces, { name })) === undefined);
  }
}
