/**
 * A power cut of the node that holds the leading operator and a webhook replica, with default chart values and real timing of the
 * node lifecycle: seconds until edits of a NodeSet are accepted, and until a scale-out takes effect. Needs root.
 */

import { installSlurm, operatorNamespace, smallMachine } from '@slurm-operator/demo/install';
import { deployments, leases, nodes, type Pod, pods } from '@slurm-operator/kube';
import { nodeSets } from '@slurm-operator/operator';
import { Figures } from '../../tools/bench/figures.ts';
import { installOperator } from '../src/given/given-cluster.ts';
import { HelmStage } from '../src/helm/helm-stage.ts';
import { until } from '../src/until.ts';

const namespace = 'slurm';
const lease = { namespace: operatorNamespace, name: 'slurm-operator' };
const figures = new Figures();

await using stage = await HelmStage.open({ name: `bench-failover-${process.pid}`, nodes: 3 });
const { client, cluster } = stage;
const [first, second, third] = cluster.nodes.map(({ name }) => name) as [string, string, string];

// Slurm and its workers run on the third node, so that only the operator is lost; operator and webhook share the other two.
await client.mergePatch(nodes, { name: third }, { spec: { unschedulable: true } });
await installOperator(stage.helm);
await client.mergePatch(nodes, { name: third }, { spec: { unschedulable: null } });
const onThird = { podSpec: { nodeSelector: { 'kubernetes.io/hostname': third } } };
const { images } = stage as unknown as { images: Record<string, Record<string, object>> };
const merged = (part: string): object => ({ ...images[part], ...onThird });
await installSlurm(stage.helm, {
  release: 'slurm',
  namespace,
  values: {
    ...smallMachine,
    controller: { ...smallMachine.controller, ...merged('controller') },
    restapi: merged('restapi'),
    nodesetDefaults: { ...merged('nodesetDefaults'), oversubscribeNode: true },
    nodesets: {
      work: { replicas: 1, partition: { enabled: true } },
      spare: { replicas: 0 },
    },
  },
});
const work = { namespace, name: 'slurm-worker-work' };
const spare = { namespace, name: 'slurm-worker-spare' };
const isReady = async (workers: number): Promise<boolean> => {
  const set = await client.find(nodeSets, work);
  const ready = set?.status?.conditions?.find(({ type }) => type === 'Ready');
  return (
    set?.status?.readyReplicas === workers &&
    ready?.status === 'True' &&
    ready.observedGeneration === set.metadata.generation
  );
};
await until('one worker is registered in Slurm', () => isReady(1), { seconds: 600 });
await until('both programs have two ready replicas', async () => replicasReady());

const placed = async (): Promise<Pod[]> =>
  (await client.list(pods, { namespace: operatorNamespace })).items as Pod[];
const leader = async (): Promise<string> =>
  (await client.get(leases, lease)).spec?.holderIdentity?.split('_')[0] ?? '';
const [before, holder] = [await placed(), await leader()];
const leading = before.find(({ metadata }) => metadata.name === holder);
const victim = leading?.spec?.nodeName ?? '';
const there = before.filter(({ spec }) => spec?.nodeName === victim).map(({ metadata }) => metadata.name);
console.log(`${first}, ${second}: operator and webhook; ${third}: Slurm`);
console.log(`power cut of ${victim}: ${there.join(', ')}`);
if (!there.some((name) => name.includes('webhook')))
  throw new Error(
    `node ${victim} has no webhook replica: the replicas were not spread over ${first} and ${second}`,
  );

const began = performance.now();
const seconds = (from = began): number => (performance.now() - from) / 1000;
await cluster.node(victim).stop();

/** The time of one edit from the first try to its acceptance. */
async function edit(
  ref: typeof work,
  spec: object,
): Promise<{ readonly took: number; readonly refusals: number }> {
  const from = performance.now();
  for (let refusals = 0; ; refusals++)
    try {
      await client.mergePatch(nodeSets, ref, { spec }, { timeout: 60_000 });
      return { took: seconds(from), refusals };
    } catch (error) {
      if (seconds(from) > 300) throw error;
    }
}

const scaled = edit(work, { replicas: 2 });
const created = until(
  'the second worker exists',
  async () =>
    (await client.list(pods, { namespace, labelSelector: 'app.kubernetes.io/name=slurmd' })).items.length > 1,
).then(() => seconds());
const effective = until('two workers are registered in Slurm', () => isReady(2)).then(() => seconds());
const led = until('another replica leads', async () => (await leader()) !== leading?.metadata.name, {
  everyMs: 100,
}).then(() => seconds());

// Edits go on while Kubernetes still believes in the node: each second one meets the silent replica.
const edits = [await scaled];
for (let at = 0; at < 30 || seconds() < 45; at++) edits.push(await edit(spare, { minReadySeconds: at % 2 }));
figures.note(
  'an edit of a NodeSet is accepted, slowest (s)',
  'edit_accepted_seconds',
  Math.max(...edits.map(({ took }) => took)),
  5,
);
figures.note('another replica leads (s)', 'leader_seconds', await led);
figures.note('the second worker is created (s)', 'worker_created_seconds', await created);
figures.note('the second worker is registered in Slurm (s)', 'scale_out_seconds', await effective, 30);
figures.note('edits made', 'edits', edits.length);
figures.note(
  'edits that were refused first',
  'edits_refused',
  edits.filter(({ refusals }) => refusals > 0).length,
);
await until('both programs have two ready replicas again', () => replicasReady());
figures.note('both programs have two ready replicas again (s)', 'replicas_restored_seconds', seconds());

async function replicasReady(): Promise<boolean> {
  const { items } = await client.list(deployments, { namespace: operatorNamespace });
  return items.length === 2 && items.every(({ status }) => status?.readyReplicas === 2);
}

figures.printJson('failover');
