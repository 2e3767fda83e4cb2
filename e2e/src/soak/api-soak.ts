/**
 * The soak of a given cluster: operations that need only the Kubernetes API, on NodeSets whose workers have jobs. The operator is killed by
 * deleting its pods. No operation here may end a job, so that every job must complete in its first run: no account of causes is needed.
 */

import { NotFoundError, pods, sleep } from '@slurm-operator/kube';
import { controllers, nodeSets } from '@slurm-operator/operator';
import { SlurmError } from '@slurm-operator/slurm';
import { Random } from '@slurm-operator/slurm/testing';
import { namespace, SlurmStage, stageConf } from '../slurm-stage.ts';
import { until } from '../until.ts';
import { evictBusy } from './operations/machines.ts';
import { slurmCommand } from './operations/operation.ts';
import { patience, untilUndrained } from './settle.ts';
import { Workload } from './workload.ts';

/** NodeSets and their workers at the beginning and at the end. */
const sets = { a: 2, b: 1 } as const;
const wantedJobs = 8;

const firstSpec = (replicas: number) => ({
  replicas,
  updateStrategy: { rollingUpdate: { maxUnavailable: 1 } },
  extraConf: 'CPUs=2 RealMemory=1000',
  partition: { enabled: true, config: 'State=UP MaxTime=INFINITE' },
});

type Act = (stage: SlurmStage, random: Random) => Promise<unknown>;

const patchSet =
  (name: keyof typeof sets, spec: object): Act =>
  (stage) =>
    stage.patchNodeSet(name, spec);

const patchController =
  (spec: object): Act =>
  ({ client }) =>
    client.mergePatch(controllers, { namespace, name: 'main' }, { spec });

const deletePod =
  (app: string): Act =>
  async ({ client }) => {
    const { items } = await client.list(pods, { namespace, labelSelector: `app.kubernetes.io/name=${app}` });
    for (const { metadata } of items)
      await client.delete(pods, metadata).catch((error: unknown) => {
        if (!(error instanceof NotFoundError)) throw error;
      });
  };

const rollOut = (value: string) => ({ template: { metadata: { annotations: { rolled: value } } } });

const cordonPod =
  (cordon: 'true' | null): Act =>
  ({ client }) =>
    client.mergePatch(
      pods,
      { namespace, name: 'a-0' },
      { metadata: { annotations: { 'nodeset.slinky.slurm.net/pod-cordon': cordon } } },
    );

const evict: Act = async (stage, random) => {
  const said = await evictBusy({ stage, random });
  if (said.endsWith('allowed')) throw new Error(said);
};

const operations: readonly (readonly [what: string, act: Act])[] = [
  ['scale a to 1', patchSet('a', { replicas: 1 })],
  ['delete the pods of the operator', (stage) => stage.replaceOperator()],
  ['scale a to 2', patchSet('a', { replicas: 2 })],
  ['change extraConf of the Controller', patchController({ extraConf: `${stageConf}\nMessageTimeout=25` })],
  ['evict a busy worker', evict],
  ['roll out a', patchSet('a', rollOut('1'))],
  ['delete the pod of slurmctld', deletePod('slurmctld')],
  ['disable the partition of b', patchSet('b', { partition: { enabled: false } })],
  ['cordon a-0', cordonPod('true')],
  ['delete the pods of slurmrestd', deletePod('slurmrestd')],
  ['uncordon a-0', cordonPod(null)],
  ['delete NodeSet b, draining', ({ client }) => client.delete(nodeSets, { namespace, name: 'b' })],
  ['rotate jwt.key', (stage) => stage.rotateJwtKey()],
  ['change features of a', patchSet('a', { extraConf: 'CPUs=2 RealMemory=1000 Feature=f1' })],
  ['delete the pods of the operator', (stage) => stage.replaceOperator()],
  ['evict a busy worker', evict],
];

export interface ApiSoakResult {
  readonly operations: number;
  readonly jobs_run: number;
  /** Jobs that did not complete in their first run. */
  readonly jobs_hurt: readonly string[];
}

export async function runApiSoak(name: string, say: (line: string) => void): Promise<ApiSoakResult> {
  await using stage = await SlurmStage.open({ name, nodes: 3, progress: say });
  await stage.startSlurm();
  for (const [set, replicas] of Object.entries(sets)) await stage.createNodeSet(set, firstSpec(replicas));
  for (const [set, replicas] of Object.entries(sets)) await stage.untilReady(set, replicas, patience);
  const random = new Random(20_260);
  const load = new Workload({
    slurm: () => stage.slurm(),
    random,
    shortest: 2,
    longest: 8,
    // Only jobs of one node are submitted.
    submitPair: () => Promise.resolve(undefined),
    resume: (id) => slurmCommand(stage, 'scontrol', 'resume', String(id)),
  });
  const over = new AbortController();
  const busy = keepBusy(load, random, over.signal);
  // Awaited below; what it throws must not end the process before the stage is gone.
  busy.catch(() => undefined);
  try {
    await until('every worker is busy', () => load.allBusy(), patience);
    for (const [index, [what, act]] of operations.entries()) {
      await act(stage, random);
      say(`${index + 1}/${operations.length}  ${what}`);
      await sleep(1_000 + random.below(3_000), AbortSignal.timeout(60_000));
    }
    await until('NodeSet b is gone', async () => (await stage.nodeSet('b')) === undefined, {
      ...patience,
      seen: () => stage.conditionsOf('b'),
    });
    await stage.createNodeSet('b', firstSpec(sets.b));
  } finally {
    over.abort();
    await busy;
  }
  await until(
    'the last job has ended',
    async () => {
      await load.look();
      return load.open.length === 0;
    },
    { ...patience, seen: () => JSON.stringify(load.open.slice(0, 3)) },
  );
  for (const [set, replicas] of Object.entries(sets)) await stage.untilReady(set, replicas, patience);
  await untilUndrained(stage);
  const jobs = [...load.jobs.values()];
  const hurt = jobs.filter(({ end, restarts }) => end !== 'COMPLETED' || restarts > 0);
  return {
    operations: operations.length,
    jobs_run: jobs.length,
    jobs_hurt: hurt.map(
      ({ id, end, restarts, runs }) => `job ${id}: ${end}, ${restarts} restarts, ran ${JSON.stringify(runs)}`,
    ),
  };
}

/** In the partition of all workers: jobs that wait for NodeSet b would hold its deletion, and a user would have to move them. */
async function keepBusy(load: Workload, random: Random, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    try {
      if (load.open.length < wantedJobs)
        await load.submitOne(random.pick(['batch', 'batch', 'steps', 'array']) ?? 'batch', {
          partition: 'all',
        });
    } catch (error) {
      // While slurmctld or slurmrestd starts again nothing can be submitted.
      if (!(error instanceof SlurmError)) throw error;
    }
    await load.look();
    await sleep(300, AbortSignal.timeout(60_000));
  }
}
