/** What people do to jobs while everything else happens. */
import { isForeign } from '../neighbours.ts';
import type { TrackedJob } from '../workload.ts';
import { type Operation, pause, type Run, type Soaking, slurmCommand, slurmOf } from './operation.ts';

const pickJob = ({ load, random }: Soaking, wanted: (job: TrackedJob) => boolean): TrackedJob | undefined => {
  const draw = random.next();
  const open = load.open.filter(wanted);
  return open[Math.floor(draw * open.length)];
};
const runs = (job: TrackedJob) => job.state === 'RUNNING';

/** Suspends a job for a while; removing its worker meanwhile would end it. */
const suspend: Run = async (soak) => {
  const job = pickJob(soak, (each) => runs(each) && each.single);
  if (job === undefined) return 'no job to suspend';
  if ((await slurmCommand(soak.stage, 'scontrol', 'suspend', String(job.id))) === undefined)
    return `suspend job ${job.id}: refused`;
  soak.load.suspend(job.id, Date.now() + 8_000);
  return `suspend job ${job.id} for 8 s`;
};

const requeue: Run = async (soak) => {
  const job = pickJob(soak, (each) => runs(each) && each.single);
  if (job === undefined) return 'no job to requeue';
  soak.orders.requeue(job.id);
  const done = await slurmCommand(soak.stage, 'scontrol', 'requeue', String(job.id));
  return `requeue job ${job.id}${done === undefined ? ': refused' : ''}`;
};

const cancel: Run = async (soak) => {
  // Not an array: which of its numbers are cancelled with it cannot be known beforehand.
  const job = pickJob(soak, (each) => each.single || each.kind === 'pair');
  if (job === undefined) return 'no job to cancel';
  soak.orders.cancel(job.id);
  if (job.kind === 'pair') soak.orders.cancel(job.id + 1);
  await (await slurmOf(soak)).jobs.cancel(job.id);
  return `cancel job ${job.id}`;
};

/** A reservation of a worker by another user, with a job in it. */
const reserve: Run = async (soak) => {
  const slurm = await slurmOf(soak);
  const draw = soak.random.next();
  const { items } = await slurm.nodes.list();
  const node = items[Math.floor(draw * items.length)];
  if (node === undefined) return 'no node to reserve';
  const made = await slurmCommand(
    soak.stage,
    'scontrol',
    'create',
    'reservation=people',
    'StartTime=now',
    'Duration=1',
    'Users=slurm',
    'Flags=IGNORE_JOBS',
    `Nodes=${node.name}`,
  );
  if (made === undefined) return `reserve ${node.name}: refused`;
  await soak.load.submitOne('batch', { reservation: 'people' });
  await pause(200);
  return `reserve ${node.name} for a minute`;
};

/** All work on a worker is suspended, its NodeSet scaled to nothing, and the operator must find that out from the beginning, several times. */
const scaleInUnderSuspended: Run = async (soak) => {
  const { stage } = soak;
  const job = pickJob(
    soak,
    (each) =>
      runs(each) && /^[ab]-/.test(each.runs.at(-1)?.node ?? '') && !isForeign(each.runs.at(-1)?.node ?? ''),
  );
  const node = job?.runs.at(-1)?.node ?? '';
  const set = node.slice(0, 1);
  if (job === undefined || (await stage.nodeSet(set)) === undefined) return 'no job to suspend';
  return soak.turns.within(set, () => suspendAllAndScaleIn(soak, node, set));
};

async function suspendAllAndScaleIn({ stage, load }: Soaking, node: string, set: string): Promise<string> {
  const there = load.open.filter((each) => runs(each) && each.runs.at(-1)?.node === node);
  for (const { id } of there) load.suspend(id, Date.now() + 20_000);
  await Promise.all(there.map(({ id }) => slurmCommand(stage, 'scontrol', 'suspend', String(id))));
  await stage.patchNodeSet(set, { replicas: 0 });
  // Its node is drained by then, and each start is a moment at which the nodes are known before the jobs are.
  for (let start = 0; start < 4; start += 1) {
    await pause(start === 0 ? 1_500 : 3_000);
    await stage.operator.kill();
    stage.operator.start();
  }
  await pause(3_000);
  await stage.patchNodeSet(set, { replicas: 2 });
  return `suspend all jobs on ${node}, scale ${set} to 0, kill -9 the operator 4 times, and scale ${set} to 2`;
}

export const ofJobs: readonly Operation[] = [
  { kind: 'suspend a job', weight: 3, run: suspend },
  { kind: 'scale in under suspended jobs', needs: ['operator'], run: scaleInUnderSuspended },
  { kind: 'requeue a job', run: requeue },
  { kind: 'cancel a job', run: cancel },
  { kind: 'reserve a node', run: reserve },
];
