/** Random histories of a NodeSet: what users, machines, Slurm and the operator itself may do, in any order. */
import { reasonPrefix } from '@slurm-operator/api';
import fc from 'fast-check';
import type { WorkerAction } from '../src/kinds/nodeset/model/actions.ts';
import { isAvailable } from '../src/kinds/nodeset/model/availability.ts';
import type { Observed, SlurmNode, Worker } from '../src/kinds/nodeset/model/observed.ts';
import { hasLostState, unregisteredOf } from '../src/kinds/nodeset/plan/lost-state.ts';
import { planWorkers, type WorkerPlan } from '../src/kinds/nodeset/plan/plan-workers.ts';
import { keptRevision } from '../src/kinds/nodeset/plan/revisions.ts';
import { LawBroken } from './check-laws.ts';
import { SimulatedWorld } from './simulated-world.ts';

const n = fc.nat({ max: 7 });

export type Event = { readonly does: string; readonly n: number };

/** What happens to the workers of every NodeSet, besides its own settings. */
export const failures = [
  'new-revision',
  'crash',
  'cache-lags',
  'cache-catches-up',
  'slurm-down',
  'slurm-up',
  'fail-pod',
  'restart-slurmd',
  'lose-machine',
  'machine-back',
  'image-lost',
  'image-back',
] as const;

/** Weighted towards the operator and the machinery, so that histories get somewhere. */
export const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ does: fc.constant('operator'), n }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('kube'), n }) },
  { weight: 5, arbitrary: fc.record({ does: fc.constant('slurm'), n }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('list'), n }) },
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constantFrom(
        'scale',
        ...failures,
        'cordon-node',
        'uncordon-node',
        'cordon-pod',
        'uncordon-pod',
        'admin-drain',
        'admin-undrain',
        'foreign-node',
        'foreign-node-gone',
        'state-lost',
        'suspend-job',
        'resume-job',
        'jobs-unlisted',
        'jobs-listed',
        'time',
        'budget',
        'partition',
        'pause',
        'mode',
        'retention',
      ),
      n,
    }),
  },
);

export const start = fc.record({
  replicas: fc.nat({ max: 6 }),
  maxUnavailable: fc.integer({ min: 1, max: 3 }),
  daemon: fc.boolean(),
  machines: fc.integer({ min: 1, max: 6 }),
  scaledDelete: fc.boolean(),
  deleted: fc.boolean(),
  /** A machine is off, and stays so, while the NodeSet is deleted. */
  machineOff: fc.boolean(),
  warm: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
});

export function newWorld(from: {
  replicas: number;
  maxUnavailable: number;
  daemon: boolean;
  machines: number;
  scaledDelete: boolean;
}): SimulatedWorld {
  return new SimulatedWorld(
    {
      scalingMode: from.daemon ? 'DaemonSet' : 'StatefulSet',
      replicas: from.replicas,
      minReadySeconds: 0,
      deletionPolicy: 'Drain',
      updateRevision: 'r0',
      deleting: false,
      update: {
        type: 'RollingUpdate',
        maxUnavailable: from.maxUnavailable,
        partition: 0,
        paused: false,
        reservation: undefined,
      },
      retention: { whenScaled: from.scaledDelete ? 'Delete' : 'Retain', whenDeleted: 'Retain' },
    },
    from.machines,
  );
}

/** One round of the operator: plan, check the plan against the laws, carry out the first `limit` actions. */
export function operate(world: SimulatedWorld, limit = Number.POSITIVE_INFINITY): WorkerPlan {
  const observed = world.observe();
  const made = planWorkers(observed, world.now);
  checkPlan(observed, made, world.now);
  if (observed.slurm.kind === 'known')
    world.lostSince = made.hasUnregistered ? (world.lostSince ?? world.now) : undefined;
  for (const action of made.actions.slice(0, limit)) world.act(action);
  if (made.actions.length <= limit) world.currentRevision = keptRevision(world.observe());
  return made;
}

export function happen(world: SimulatedWorld, { does, n: i }: Event): void {
  world.now += 1000;
  const pods = [...world.pods.values()];
  const pod = pods[i % Math.max(1, pods.length)];
  const machines = [...world.kubeNodes.values()];
  const machine = machines[i % Math.max(1, machines.length)];
  const nodes = [...world.slurm.nodes.values()];
  const node = nodes[i % Math.max(1, nodes.length)];
  const job = world.slurm.jobs[i % Math.max(1, world.slurm.jobs.length)];
  const { spec } = world;
  switch (does) {
    case 'operator':
      operate(world, i === 7 ? 2 : undefined);
      break;
    case 'kube':
      world.kubeWorks();
      break;
    case 'slurm':
      world.slurmWorks(i);
      break;
    case 'list':
      world.refreshView();
      break;
    case 'scale':
      spec.replicas = i;
      break;
    case 'new-revision':
      spec.updateRevision = `r${i}`;
      break;
    case 'crash':
      world.crashOperator();
      break;
    case 'cache-lags':
      world.cacheLags();
      break;
    case 'cache-catches-up':
      world.cacheCatchesUp();
      break;
    case 'slurm-down':
      world.slurm.reachable = false;
      break;
    case 'slurm-up':
      world.slurm.reachable = true;
      break;
    case 'fail-pod':
      if (pod?.phase === 'Running') world.failPod(pod);
      break;
    case 'restart-slurmd':
      if (pod?.phase === 'Running' && !pod.terminating && !pod.containersDead) world.restartSlurmd(pod);
      break;
    case 'lose-machine':
      if (machine) machine.reachable = false;
      break;
    case 'machine-back':
      if (machine) machine.reachable = true;
      world.kubeWorks(); // a kubelet that is back reports first
      break;
    case 'image-lost':
      world.imageComes = false;
      break;
    case 'image-back':
      world.imageComes = true;
      break;
    case 'cordon-node':
      if (machine) machine.unschedulable = true;
      break;
    case 'uncordon-node':
      if (machine) machine.unschedulable = false;
      break;
    case 'cordon-pod':
      if (pod && !pod.cordoned) Object.assign(pod, { cordoned: true, cordonCause: undefined });
      break;
    case 'uncordon-pod':
      if (pod) Object.assign(pod, { cordoned: false, cordonCause: undefined });
      break;
    case 'admin-drain':
      if (node && !node.flags.has('DRAIN')) {
        node.flags.add('DRAIN');
        node.reason = 'bad disk';
      }
      break;
    case 'admin-undrain':
      if (node) {
        node.flags.delete('DRAIN');
        node.reason = '';
      }
      break;
    case 'foreign-node': {
      // The name that the next worker will have, of either mode. No one can see a node that appears between a list and a write.
      const name = i % 2 === 0 ? `workers-${pods.length}` : (machine?.name ?? '');
      if (!world.lists(name)) world.slurm.addForeign(name, world.now);
      break;
    }
    case 'foreign-node-gone':
      world.slurm.removeForeign();
      break;
    case 'state-lost':
      world.slurm.loseState(world.now);
      break;
    case 'suspend-job':
      if (job) job.suspended = true;
      break;
    case 'resume-job':
      if (job) job.suspended = false;
      break;
    case 'jobs-unlisted':
      world.slurm.listsJobs = false;
      break;
    case 'jobs-listed':
      world.slurm.listsJobs = true;
      break;
    case 'time':
      world.now += i * 60_000;
      break;
    case 'budget':
      spec.update = { ...spec.update, maxUnavailable: 1 + (i % 3) };
      break;
    case 'partition':
      spec.update = { ...spec.update, partition: i };
      break;
    case 'pause':
      spec.update = { ...spec.update, paused: i > 3 };
      break;
    case 'mode':
      spec.scalingMode = i > 3 ? 'DaemonSet' : 'StatefulSet';
      break;
    case 'retention':
      spec.retention = { whenScaled: i > 3 ? 'Delete' : 'Retain', whenDeleted: i % 2 ? 'Delete' : 'Retain' };
      break;
    default:
      throw new Error(`no such event: ${does}`);
  }
}

/** The laws that a plan must keep whatever it was shown. */
export function checkPlan(observed: Observed, made: WorkerPlan, now: number): void {
  for (const action of made.actions) checkAction(observed, action);
  // L3: what we remove, together with what is missing anyway, stays within the budget.
  const going = new Set(made.toRemove.map((worker) => worker.name));
  const wanted = made.actions.some((action) => action.kind === 'add-finalizer');
  const { healthy, absent } = unregisteredOf(observed, observed.workers, new Map(), now);
  // After a loss of state more may go than the budget allows: as many as have registered again.
  const forgotten = new Set(
    hasLostState(healthy.length, absent.length) ? absent.map(({ name }) => name) : [],
  );
  const disrupted = made.toRemove.filter(
    (worker) =>
      isAvailable(worker, observed, now) &&
      worker.revision !== observed.updateRevision &&
      !forgotten.has(worker.name) &&
      !isPowering(observed, worker.slurmName) &&
      !isBeyondMax(observed, worker),
  );
  const serving = observed.workers.filter(
    (worker) => isAvailable(worker, observed, now) && !going.has(worker.name),
  ).length;
  const scaledIn = observed.workers.length > made.desired;
  if (
    !wanted &&
    !scaledIn &&
    !observed.deleting &&
    disrupted.length > 0 &&
    made.desired - serving >
      Math.max(observed.update.maxUnavailable, made.desired - serving - disrupted.length)
  ) {
    throw new LawBroken(
      `L3: ${serving} of ${made.desired} left serving, though at most ${observed.update.maxUnavailable} may be missing`,
    );
  }
}

/** Slurm itself has taken it out of service, or has not put it into service yet. */
function isPowering({ slurm }: Observed, name: string): boolean {
  const flags = slurm.kind === 'known' ? slurm.nodes.get(name)?.flags : undefined;
  return ['POWERED_DOWN', 'POWERING_DOWN', 'POWERING_UP'].some((flag) => flags?.has(flag));
}

const isBeyondMax = ({ autoscale }: Observed, { slot }: Worker): boolean =>
  autoscale !== undefined && slot.mode === 'StatefulSet' && slot.ordinal >= autoscale.max;

function checkAction(observed: Observed, action: WorkerAction): void {
  const { slurm } = observed;
  if (action.kind === 'drain' || action.kind === 'undrain' || action.kind === 'set-down') {
    if (slurm.kind === 'unknown') throw new LawBroken(`L1: ${action.kind} planned on an unknown view`);
    const node = slurm.nodes.get(action.slurmName);
    if (node !== undefined && node.flags.has('DRAIN') && !node.reason.startsWith('slurm-operator: '))
      throw new LawBroken(`L2: ${action.kind} of ${node.name}, drained by a user: ${node.reason}`);
    if (
      action.kind === 'undrain' &&
      !observed.workers.some((worker) => worker.address === node?.address && worker.ready)
    )
      throw new LawBroken(`undrain of ${action.slurmName} before its new slurmd has registered`);
    if (action.kind === 'drain' && !action.reason.startsWith(reasonPrefix))
      throw new LawBroken('L2: a drain of ours without our prefix');
  }
  if (
    action.kind === 'delete-worker' &&
    (action.because === 'drained' ||
      action.because === 'drained-by-other' ||
      action.because === 'unknown-to-slurm')
  ) {
    if (slurm.kind === 'unknown') throw new LawBroken('L1: a delete planned on an unknown view');
    const node = slurm.nodes.get(action.slurmName);
    if (action.because === 'unknown-to-slurm' && node !== undefined)
      throw new LawBroken('L1: a delete because Slurm has no such node, though it has');
    if (action.because !== 'unknown-to-slurm' && !looksDrained(node))
      throw new LawBroken(`L1: a delete of ${action.slurmName} though the list shows ${node?.base}`);
    if (action.because === 'drained' && !node?.reason.startsWith(reasonPrefix))
      throw new LawBroken(`L1: ${action.slurmName} deleted on a user's drain as if it were ours`);
    if (slurm.at <= (observed.lastWrites.get(action.slurmName) ?? Number.NEGATIVE_INFINITY))
      throw new LawBroken('L1: a delete planned on a list older than our last change');
  }
  if (action.kind === 'delete-claim') {
    const claim = observed.claims.find((candidate) => candidate.name === action.name);
    if (claim === undefined || !claim.scaledIn)
      throw new LawBroken('L5: a claim deleted whose slot was not scaled in');
    if (observed.workers.some((worker) => worker.claims.includes(action.name)))
      throw new LawBroken('L5: a claim deleted under a worker');
  }
}

/** Written apart from the product's own predicate, so that a fault in one is seen by the other. */
function looksDrained(node: SlurmNode | undefined): boolean {
  if (node === undefined || !node.flags.has('DRAIN')) return false;
  return !['ALLOCATED', 'MIXED'].includes(node.base) && !node.flags.has('COMPLETING');
}

/** Lets everything heal and the operator work until nothing is left to do. */
export function settle(
  world: SimulatedWorld,
  { rounds = 200, off }: { rounds?: number; off?: string | undefined } = {},
): WorkerPlan {
  world.slurm.reachable = true;
  world.slurm.removeForeign();
  world.slurm.listsJobs = true;
  for (const job of world.slurm.jobs) job.suspended = false;
  world.imageComes = true;
  world.cacheCatchesUp();
  for (const machine of world.kubeNodes.values())
    Object.assign(machine, { reachable: machine.name !== off, unschedulable: false });
  for (const node of world.slurm.nodes.values())
    if (node.reason === 'bad disk') {
      node.flags.delete('DRAIN');
      node.reason = '';
    }
  let quiet = 0;
  let last: WorkerPlan | undefined;
  for (let round = 0; round < rounds; round += 1) {
    world.now += 60_000;
    // Whatever people cordoned they uncordon, also on the successor of the worker they meant.
    for (const pod of world.pods.values())
      if (pod.cordoned && pod.cordonCause === undefined) pod.cordoned = false;
    world.kubeWorks();
    world.slurmWorks(0);
    world.refreshView();
    last = operate(world);
    quiet = last.actions.length === 0 ? quiet + 1 : 0;
    if (quiet !== 3) continue;
    if (last.wakeAt === undefined) return last;
    world.now = last.wakeAt;
    quiet = 0;
  }
  throw new LawBroken(
    `L8: no rest after ${rounds} rounds; still wants ${JSON.stringify(last?.actions)}; withheld ${JSON.stringify(last?.withheld)}`,
  );
}
