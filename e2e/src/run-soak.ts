/** Random operations on a cluster whose workers all have jobs; then rest, and the account of what was lost and by whose hand. */
import { nodes, pods, sleep } from '@slurm-operator/kube';
import { operate } from './operations.ts';
import { Random } from './random.ts';
import { namespace, operatorUser, SlurmStage } from './slurm-stage.ts';
import { type TrackedJob, Workload } from './workload.ts';

export interface SoakOptions {
  readonly ops: number;
  readonly seed: number;
  readonly nodes: number;
  readonly name: string;
  readonly longest: number;
  readonly say: (line: string) => void;
}

export interface SoakResult {
  readonly ops: number;
  readonly seed: number;
  readonly jobs_run: number;
  readonly busy_percent: number;
  readonly jobs_lost: number;
  readonly jobs_requeued_by_operator: number;
  readonly jobs_lost_by_slurm: number;
  readonly end_state_equal: boolean;
}

export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { ops, seed, say } = options;
  const random = new Random(seed);
  await using stage = await SlurmStage.open({ name: options.name, nodes: options.nodes, progress: say });
  await stage.startSlurm();
  await stage.createNodeSet('w', {
    replicas: options.nodes,
    updateStrategy: { rollingUpdate: { maxUnavailable: 1 } },
  });
  await stage.untilReady('w', options.nodes, 180_000);
  const slurm = await stage.slurm();
  const load = new Workload({ slurm, random: new Random(seed + 1), shortest: 5, longest: options.longest });
  const kills: number[] = [];
  const over = new AbortController();
  const keepBusy = async () => {
    while (!over.signal.aborted) {
      await load.topUp(options.nodes * 3);
      await load.look();
      await sleep(500, AbortSignal.timeout(5_000));
    }
  };
  const busy = keepBusy();
  for (let op = 1; op <= ops; op += 1) {
    await load.sample();
    const what = await operate({ stage, random, most: options.nodes, kills });
    say(`${String(op).padStart(4)}/${ops}  ${what}`);
    await sleep(1_000 + random.below(3_000), AbortSignal.timeout(10_000));
  }
  over.abort();
  await busy;
  say('rest: all cordons off, full size, the last jobs end');
  await settle(stage, load, options.nodes);
  return {
    ops,
    seed,
    ...account(load, stage, kills, say),
    busy_percent: load.busyPercent,
    end_state_equal: await isFresh(stage, options.nodes),
  };
}

async function settle(stage: SlurmStage, load: Workload, replicas: number): Promise<void> {
  stage.operator.start();
  for (const node of stage.cluster.nodes)
    await stage.client.mergePatch(nodes, { name: node.name }, { spec: { unschedulable: null } });
  for (const pod of await stage.workers()) {
    const body = { metadata: { annotations: { 'nodeset.slinky.slurm.net/pod-cordon': null } } };
    if (pod.metadata.annotations?.['nodeset.slinky.slurm.net/pod-cordon-cause'] === undefined)
      await stage.client
        .mergePatch(pods, { namespace, name: pod.metadata.name }, body)
        .catch(() => undefined);
  }
  await stage.patchNodeSet('w', { replicas });
  await stage.until(
    'the last job has ended',
    async () => {
      await load.look();
      return load.open.length === 0;
    },
    300_000,
    async () => JSON.stringify(load.open.slice(0, 3)),
  );
  await stage.untilReady('w', replicas, 300_000);
}

/** What a fresh apply of the same NodeSet would give: so many workers, named in order, of one revision, none drained, no other record. */
async function isFresh(stage: SlurmStage, replicas: number): Promise<boolean> {
  const slurm = await stage.slurm();
  const set = await stage.nodeSet('w');
  const workers = await stage.workers();
  const wanted = Array.from({ length: replicas }, (_, ordinal) => `w-${ordinal}`);
  await stage.until(
    'nothing stays drained',
    async () => (await slurm.nodes.list()).items.every((node) => !node.state.flags.has('DRAIN')),
    60_000,
    async () =>
      JSON.stringify(
        (await slurm.nodes.list()).items.map((node) => [
          node.name,
          node.state.base,
          ...node.state.flags,
          node.reason,
        ]),
      ),
  );
  const records = (await slurm.nodes.list()).items.map((node) => node.name).toSorted();
  const names = workers.map((pod) => pod.metadata.name).toSorted();
  const revisions = new Set(workers.map((pod) => pod.metadata.labels?.['controller.kubernetes.io/hash']));
  return (
    JSON.stringify(records) === JSON.stringify(wanted) &&
    JSON.stringify(names) === JSON.stringify(wanted) &&
    revisions.size === 1 &&
    revisions.has(set?.status?.nodeSetHash)
  );
}

/** A job is lost by our hand if the operator deleted or evicted the pod under it. */
function account(load: Workload, stage: SlurmStage, kills: readonly number[], say: (line: string) => void) {
  const deletes = stage.cluster.server.audit.find(
    (entry) =>
      entry.user === operatorUser &&
      entry.resource === 'pods' &&
      entry.status < 300 &&
      (entry.verb === 'delete' || entry.subresource === 'eviction'),
  );
  const hurt = [...load.jobs.values()].filter((job) => job.end !== 'COMPLETED' || job.restarts > 0);
  let byOperator = 0;
  let lost = 0;
  let bySlurm = 0;
  for (const job of hurt) {
    const forgotten = kills.some((kill) => kill - job.submittedAt < 5_000 && kill >= job.submittedAt);
    const deletion = deletes.find((entry) => entry.name === job.node && runs(job, entry.time));
    if (deletion !== undefined) byOperator += 1;
    else if (forgotten || kills.some((kill) => runs(job, kill))) bySlurm += 1;
    else lost += 1;
    say(
      `job ${job.id}: ${job.end ?? 'open'}, ${job.restarts} restarts, on ${job.node}${deletion === undefined ? '' : `, its pod deleted by the operator at ${new Date(deletion.time).toISOString()}`}${forgotten ? ', accepted less than 5 s before kill -9 of slurmctld' : ''}`,
    );
  }
  return {
    jobs_run: load.jobs.size,
    jobs_lost: lost,
    jobs_requeued_by_operator: byOperator,
    jobs_lost_by_slurm: bySlurm,
  };
}

function runs(job: TrackedJob, at: number): boolean {
  return (
    job.startedAt !== undefined && job.startedAt <= at && at <= (job.endedAt ?? Number.POSITIVE_INFINITY)
  );
}
