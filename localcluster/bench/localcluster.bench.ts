/**
 * How quick and how large a cluster is: three nodes up, a hundred real pods, five thousand hollow ones. Each part is
 * measured in a process of its own, as a user would run it, so that one does not carry the memory of the other.
 */
import { rm } from 'node:fs/promises';
import { type Client, createClient, kubeconfigConfig, pathOf } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { scratchDirectory } from '@slurm-operator/sandbox';
import { Figures } from '../../tools/bench/figures.ts';
import { down, order, up } from '../src/index.ts';
import { deployments, nodes, pods, replicaSets } from '../src/objects/objects.ts';
import { buildBusyboxImage, busyboxImage } from '../testing/busybox-image.ts';

const name = 'bench';
const realPods = 100;
const hollowPods = 5000;
const figures = new Figures();
const quiet = () => {};

/** Waits until so many pods run; answers the seconds it took since `began`. */
async function untilRunning(
  client: Client,
  wanted: number,
  began: number,
  limitSeconds: number,
): Promise<number> {
  let running = 0;
  const isReached = async () => {
    const deployment = await client.get(deployments, { namespace: 'default', name: 'load' });
    running = deployment.status?.availableReplicas ?? 0;
    return running >= wanted;
  };
  const seen = () => `${running} pods run`;
  await until(`${wanted} pods run`, isReached, { seconds: limitSeconds, everyMs: 50, seen });
  return (performance.now() - began) / 1000;
}

function load(replicas: number): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'load', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'load' } },
      template: {
        metadata: { labels: { app: 'load' } },
        spec: {
          terminationGracePeriodSeconds: 0,
          automountServiceAccountToken: false,
          containers: [{ name: 'c', image: busyboxImage, command: ['sleep', '1000000'] }],
        },
      },
    },
  };
}

async function residentMb(record: Awaited<ReturnType<typeof up>>): Promise<number> {
  return (await order<{ rssMb: number }>(record, '/status', {})).rssMb;
}

async function measure(
  options: { nodes: number; hollowNodes: number },
  work: (client: Client, record: Awaited<ReturnType<typeof up>>, upSeconds: number) => Promise<void>,
): Promise<void> {
  const began = performance.now();
  const record = await up({ name, ...options, progress: quiet });
  const upSeconds = (performance.now() - began) / 1000;
  const client = createClient(await kubeconfigConfig({ files: [record.kubeconfig] }), { userAgent: 'bench' });
  try {
    await work(client, record, upSeconds);
  } finally {
    client.close();
    await down(name, quiet);
  }
}

const scratch = scratchDirectory('localcluster-bench');
try {
  const image = await buildBusyboxImage(scratch);
  await down(name, quiet).catch(quiet);
  await measure({ nodes: 1, hollowNodes: 0 }, async () => {}); // warm: tools fetched, code read

  await measure({ nodes: 3, hollowNodes: 0 }, async (client, record, upSeconds) => {
    figures.note('three nodes up, warm (s)', 'up_seconds', upSeconds, 10);
    await order(record, '/load-image', { path: image });
    figures.note('memory of the cluster, 3 nodes (MB)', 'rss_mb_3_nodes', await residentMb(record));
    const began = performance.now();
    await client.json('POST', pathOf(deployments, { namespace: 'default' }), { body: load(realPods) });
    const seconds = await untilRunning(client, realPods, began, 300);
    figures.note(`real pods started per second (${realPods} on 3 nodes)`, 'pods_per_s', realPods / seconds);
  });

  await measure({ nodes: 0, hollowNodes: hollowPods }, async (client, record) => {
    const known = (await client.list(nodes)).items.length;
    if (known !== hollowPods) throw new Error(`${known} hollow nodes instead of ${hollowPods}`);
    const began = performance.now();
    await client.json('POST', pathOf(deployments, { namespace: 'default' }), { body: load(hollowPods) });
    const seconds = await untilRunning(client, hollowPods, began, 600);
    figures.note(
      `hollow pods per second (${hollowPods} on as many nodes)`,
      'hollow_pods_per_s',
      hollowPods / seconds,
    );
    figures.note(
      `memory with ${hollowPods} hollow nodes and pods (MB)`,
      'rss_mb_5000_hollow',
      await residentMb(record),
    );
    const running = (await client.list(pods, { namespace: 'default' })).items.filter(
      (pod) => pod.status?.phase === 'Running',
    ).length;
    if (running !== hollowPods) throw new Error(`${running} pods run instead of ${hollowPods}`);
    if ((await client.list(replicaSets, { namespace: 'default' })).items.length !== 1)
      throw new Error('one ReplicaSet was expected');
  });
} finally {
  await rm(scratch, { recursive: true, force: true });
}

figures.printJson('localcluster');
