/** Random histories of an autoscaled NodeSet, and the laws A1 to A9 at every step and at the end. */
import fc from 'fast-check';
import type { Autoscale } from '../src/kinds/nodeset/model/autoscale.ts';
import type { Observed } from '../src/kinds/nodeset/model/observed.ts';
import { planWorkers, type WorkerPlan } from '../src/kinds/nodeset/plan/plan-workers.ts';
import { LawBroken } from './check-laws.ts';
import { type Event, failures, happen, newWorld, settle } from './nodeset-history.ts';
import { autoscaled } from './observed.ts';
import { sleepingNode } from './simulated-power.ts';
import type { SimulatedWorld } from './simulated-world.ts';

const n = fc.nat({ max: 7 });
const one = (...does: string[]) => fc.record({ does: fc.constantFrom(...does), n });

export const autoscaleEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 10, arbitrary: one('operator') },
  { weight: 4, arbitrary: one('kube') },
  { weight: 6, arbitrary: one('slurm') },
  { weight: 5, arbitrary: one('list') },
  { weight: 3, arbitrary: one('time') },
  { weight: 3, arbitrary: one('gang') },
  { weight: 1, arbitrary: one('new-revision', 'partition') },
  { weight: 1, arbitrary: one('off-in-outage') },
  {
    weight: 8,
    arbitrary: one(
      ...failures,
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
      'max',
      'min',
      'size',
      'admin-power-down',
      'admin-power-up',
      'half-created',
      'no-machines',
      'few-machines',
      'machines-come',
      'wake-manual',
      'wake-on-demand',
      'autoscale-off',
      'autoscale-on',
    ),
  },
);

export const autoscaleStart = fc.record({
  replicas: fc.nat({ max: 4 }),
  min: fc.nat({ max: 2 }),
  max: fc.integer({ min: 1, max: 6 }),
  spare: fc.nat({ max: 2 }),
  machines: fc.integer({ min: 1, max: 6 }),
  /** Autoscale is switched on after the workers came up. */
  switched: fc.boolean(),
  deleted: fc.boolean(),
  /** What has just happened when it is switched on: else the idle workers are asleep before anything can. */
  first: fc.constantFrom('time', 'jobs-unlisted', 'admin-drain', 'slurm'),
});

const settings = (over: Partial<Autoscale>): Autoscale =>
  autoscaled({
    idleAfter: 4_000,
    giveUpAfter: 20_000,
    protectAfter: 2,
    shape: 'CPUs=1 Feature=workers',
    size: { cpus: 1, memory: 1, gpus: 0 },
    conf: 'c0ffee00',
    feature: 'workers',
    ...over,
  });

export function checkAutoscaleLaws(runs: number, seed: number): number {
  let checked = 0;
  fc.assert(
    fc.property(
      autoscaleStart,
      fc.array(autoscaleEvent, { minLength: 10, maxLength: 80, size: 'max' }),
      (from, events) => {
        const world = newWorld({ ...from, maxUnavailable: 2, daemon: false, scaledDelete: false });
        const { min, max, spare } = from;
        const wanted = settings({ max, min: Math.min(min, max), spare });
        if (from.switched) settle(world);
        world.spec.autoscale = wanted;
        for (const does of [from.first, 'list', 'operator']) step(world, { does, n: 1 });
        for (const each of events) step(world, each);
        world.spec.autoscale = { ...(world.spec.autoscale ?? wanted), wake: 'OnDemand' };
        world.placement = 'anywhere';
        adminsResume(world);
        rest(world);
        checkRest(world);
        if (from.deleted) checkDeletion(world);
        checked += 1;
      },
    ),
    { numRuns: runs, seed, endOnFailure: false },
  );
  return checked;
}

function step(world: SimulatedWorld, each: Event): void {
  const { autoscale } = world.spec;
  const nodes = [...world.slurm.nodes.values()].filter(({ ours }) => ours);
  const node = nodes[each.n % Math.max(1, nodes.length)];
  switch (each.does) {
    case 'operator': {
      const observed = world.observe();
      const made = planWorkers(observed, world.now);
      checkPower(observed, made);
      checkRevisions(observed, made);
      checkAwaited(world, observed, made);
      checkVisible(observed, made);
      checkWholeJobs(observed, made);
      happen(world, each);
      keepHistory(world, made);
      return;
    }
    case 'gang':
      world.now += 1000;
      world.slurm.allocateTogether(2 + (each.n % 3), world.now);
      return;
    // Before a worker has registered for a job that was given its node, slurmctld restarts, and the worker is not wanted any more.
    case 'off-in-outage':
      world.slurm.allocateTogether(1 + (each.n % 2), world.now);
      for (const does of ['slurm', 'list', 'operator', 'slurm-down', 'list']) step(world, { does, n: 0 });
      world.spec.autoscale = undefined;
      world.spec.replicas = 0;
      for (const does of ['operator', 'slurm-up', 'list']) step(world, { does, n: 0 });
      world.spec.autoscale = autoscale;
      return;
    case 'no-machines':
      world.placement = 'nowhere';
      return;
    case 'few-machines':
      world.placement = 'one-each';
      return;
    case 'machines-come':
      world.placement = 'anywhere';
      return;
    case 'wake-manual':
    case 'wake-on-demand':
      if (autoscale)
        world.spec.autoscale = { ...autoscale, wake: each.does === 'wake-manual' ? 'Manual' : 'OnDemand' };
      return;
    case 'max':
      if (autoscale)
        world.spec.autoscale = {
          ...autoscale,
          max: Math.max(1, each.n),
          min: Math.min(autoscale.min, Math.max(1, each.n)),
        };
      return;
    case 'min':
      if (autoscale) world.spec.autoscale = { ...autoscale, min: Math.min(each.n, autoscale.max) };
      return;
    case 'size':
      if (autoscale) {
        const cpus = 1 + (each.n % 3);
        const size = { ...autoscale.size, cpus };
        world.spec.autoscale = { ...autoscale, size, shape: `CPUs=${cpus} Feature=workers` };
      }
      return;
    case 'admin-power-down':
      if (node && !node.flags.has('POWERED_DOWN') && !node.flags.has('POWERING_UP'))
        world.slurm.power.powerDown(node, world.now);
      return;
    case 'admin-power-up':
      if (node) world.slurm.power.change({ kind: 'power-up', slurmNames: [node.name] }, new Set(), world.now);
      return;
    case 'half-created': {
      // A creation that was interrupted before the record was marked.
      const name = `workers-${each.n}`;
      const hasPod = [...world.pods.values()].some(({ slurmName }) => slurmName === name);
      if (!hasPod && !world.slurm.nodes.has(name))
        world.slurm.nodes.set(name, { ...sleepingNode(name, ''), ours: false });
      return;
    }
    case 'autoscale-off':
      world.spec.autoscale = undefined;
      return;
    case 'autoscale-on':
      world.spec.autoscale ??= settings({ max: 4 });
      return;
    case 'admin-undrain':
      return adminsResume(world);
    default:
      return happen(world, each);
  }
}

/** The person who drained a node resumes it, which also brings back one that Slurm has set down. */
function adminsResume(world: SimulatedWorld): void {
  for (const node of world.slurm.nodes.values()) {
    if (node.reason !== 'bad disk') continue;
    node.flags.delete('DRAIN');
    Object.assign(node, { reason: '', base: 'IDLE' });
  }
}

/** What a plan must not ask for, whatever it was shown. Written apart from the predicates of the product. */
function checkPower({ slurm, workers, lastWrites }: Observed, made: WorkerPlan): void {
  for (const action of made.actions) {
    const broken = (what: string): never => {
      throw new LawBroken(`${what}: ${JSON.stringify(action)}`);
    };
    if ('slurmNames' in action && slurm.kind === 'unknown') broken('A1: a change planned on an unknown view');
    if (action.kind === 'power-down')
      for (const name of action.slurmNames) {
        const node = slurm.kind === 'known' ? slurm.nodes.get(name) : undefined;
        if (node?.flags.has('DRAIN')) broken('A3: a drained node is powered down');
        if (node?.base !== 'IDLE' || node.deadline !== undefined) broken('A2: a busy node is powered down');
        if (slurm.kind === 'known' && slurm.jobsUnknown !== undefined)
          broken('A2: a node is powered down though a job may be suspended there');
      }
    if (action.kind === 'mark-asleep')
      for (const name of action.slurmNames)
        if (workers.some(({ slurmName }) => slurmName === name)) broken('A4: resumed while its pod exists');
    if (action.kind === 'delete-worker' && action.because === 'powered-down') {
      const node = slurm.kind === 'known' ? slurm.nodes.get(action.slurmName) : undefined;
      if (node === undefined || !(node.flags.has('POWERED_DOWN') || node.flags.has('POWERING_DOWN')))
        broken('A2: a pod deleted whose node is not powered down');
      if (slurm.kind === 'known' && slurm.at <= (lastWrites.get(action.slurmName) ?? 0))
        broken('A2: a pod deleted on a list older than the last change');
    }
  }
}

/** Slurm gave the job to a record that was made of the newest revision: a worker of another name or size is not the one that it waits for. */
function checkRevisions({ autoscale, updateRevision }: Observed, { actions }: WorkerPlan): void {
  if (autoscale === undefined) return;
  for (const action of actions)
    if (action.kind === 'create-worker' && (action.revision ?? updateRevision) !== updateRevision)
      throw new LawBroken(
        `A8: a worker is woken with another revision than its record: ${JSON.stringify(action)}`,
      );
}

/** While Slurm does not answer, a worker that a job waits for stays, also where autoscaling was off when it was created. */
function checkAwaited(world: SimulatedWorld, { slurm }: Observed, { actions }: WorkerPlan): void {
  if (slurm.kind === 'known') return;
  for (const action of actions) {
    if (action.kind !== 'delete-worker' || (action.why !== 'scale-in' && action.why !== 'deletion')) continue;
    const isWaking = world.slurm.nodes.get(action.slurmName)?.flags.has('POWERING_UP') === true;
    if (isWaking && world.slurm.jobs.some(({ node, waits }) => waits && node === action.slurmName))
      throw new LawBroken(`A9: a job waits for a worker that is deleted: ${JSON.stringify(action)}`);
  }
}

/** Sleeping nodes of another size are replaced, and sbatch refuses a job for which there are no nodes at that moment: half of them stay. */
function checkVisible({ slurm, autoscale }: Observed, { actions }: WorkerPlan): void {
  if (slurm.kind === 'unknown' || autoscale === undefined) return;
  const replaced = new Set(
    actions.flatMap((action) => {
      const node = action.kind === 'delete-record' ? slurm.nodes.get(action.slurmName) : undefined;
      const isAsleep = node?.flags.has('POWERED_DOWN') && !node.flags.has('DRAIN');
      return isAsleep && Number(node?.name.split('-').at(-1)) < autoscale.max ? action : [];
    }),
  );
  const there = slurm.nodes.values().filter(({ name }) => Number(name.split('-').at(-1)) < autoscale.max);
  const missing = replaced.size === 0 ? 0 : autoscale.max - [...there].length;
  if (replaced.size > 0 && replaced.size + missing > Math.max(1, autoscale.max / 2))
    throw new LawBroken(
      `A7: ${replaced.size} of ${autoscale.max} sleeping nodes are replaced, ${missing} are missing`,
    );
}

/** The status of the NodeSet: failed wake-ups outlive the operator. */
function keepHistory(world: SimulatedWorld, { autoscale }: WorkerPlan): void {
  if (world.spec.autoscale !== undefined && autoscale !== undefined)
    world.spec.autoscale = { ...world.spec.autoscale, history: autoscale.history };
}

/** Jobs are abandoned as a whole, and none while jobs of lower priority that are not complete hold enough machines for it. */
function checkWholeJobs({ slurm, workers, autoscale }: Observed, { actions }: WorkerPlan): void {
  const jobs = slurm.kind === 'known' ? (slurm.jobs ?? []) : [];
  const going = new Set(
    actions.flatMap((action) =>
      action.kind === 'delete-worker' && action.why === 'no-machine' ? action.slurmName : [],
    ),
  );
  // What is above the maximum leaves in another way.
  const slots = workers.filter(
    ({ slot }) => slot.mode === 'StatefulSet' && slot.ordinal < (autoscale?.max ?? 0),
  );
  const pods = new Map(slots.map((worker) => [worker.slurmName, worker]));
  const waits = (name: string) => {
    const pod = pods.get(name);
    return pod !== undefined && !pod.everStarted && !pod.terminating && pod.nodeName === undefined;
  };
  const all = jobs.map((job) => {
    const waiting = job.nodes.filter(waits);
    const placed = job.nodes.filter((name) => pods.has(name) && !waits(name)).length;
    return { ...job, waiting, placed, isAbandoned: waiting.some((name) => going.has(name)) };
  });
  for (const job of all.filter(({ isAbandoned }) => isAbandoned)) {
    if (job.waiting.some((name) => !going.has(name)))
      throw new LawBroken(`A6: job ${job.id} is abandoned in part: ${job.waiting.join()}`);
    const spent = all
      .filter((other) => other.waiting.length > 0 && other.priority < job.priority && !other.isAbandoned)
      .reduce((sum, { placed }) => sum + placed, 0);
    if (spent >= job.waiting.length)
      throw new LawBroken(`A6: job ${job.id} is abandoned though jobs of lower priority hold machines`);
  }
}

/** A job that waits for a node that is not wanted any more holds its record until Slurm gives the wake-up up. */
function rest(world: SimulatedWorld): void {
  for (let round = 0; round < 2; round += 1) {
    settle(world);
    const made = planWorkers(world.observe(), world.now);
    keepHistory(world, made);
    world.now += 3_600_000;
  }
  settle(world);
}

function checkRest(world: SimulatedWorld): void {
  const { autoscale } = world.spec;
  if (autoscale === undefined) return;
  const expect = (holds: boolean, what: string) => {
    if (!holds) throw new LawBroken(`at rest ${what}`);
  };
  const nodes = [...world.slurm.nodes.values()];
  const asleep = nodes.filter(({ flags }) => flags.has('POWERED_DOWN'));
  const names = new Set(asleep.map(({ name }) => name));
  const pods = [...world.pods.values()];
  expect(nodes.length === autoscale.max, `A1: Slurm shows ${nodes.length} nodes instead of ${autoscale.max}`);
  expect(
    pods.every(({ slurmName }) => world.slurm.nodes.has(slurmName) && !names.has(slurmName)),
    'A1: a pod exists whose node sleeps',
  );
  expect(pods.length === nodes.length - asleep.length, 'A1: a node is awake without a pod');
  expect(
    nodes.every(({ flags }) => !flags.has('POWERING_UP') && !flags.has('POWERING_DOWN')),
    'A6: a node is still being powered up or down',
  );
  const wanted = Math.max(autoscale.min, Math.min(autoscale.max, autoscale.spare));
  expect(pods.length === wanted, `A5: ${pods.length} workers are awake instead of ${wanted}`);
  expect(
    nodes.every(({ base, flags }) => base === 'IDLE' && !flags.has('DRAIN')),
    'A6: a slot is not offered to Slurm again',
  );
  expect(
    asleep.every(({ size }) => size.cpus === autoscale.size.cpus),
    'A7: a sleeping node has another size than its worker would have',
  );
  world.refreshView();
  const { actions } = planWorkers(world.observe(), world.now);
  expect(actions.length === 0, `L9: an unchanged NodeSet asks for ${JSON.stringify(actions)}`);
}

function checkDeletion(world: SimulatedWorld): void {
  world.slurmWorks(3);
  world.spec.deleting = true;
  rest(world);
  if (!world.finalized || world.pods.size > 0 || world.slurm.nodes.size > 0)
    throw new LawBroken(`L6: ${world.pods.size} pods and ${world.slurm.nodes.size} records are left`);
}
