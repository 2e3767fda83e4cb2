/** Every restart of slurmctld that the operator causes asks the guard first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import { aController, operatorDefaults, podFacts } from '../../../../testing/objects.ts';
import { observedController, slurmWork } from '../../../../testing/observed-controller.ts';
import { digestOf } from '../../../objects/digest.ts';
import type { SlurmWork, WorkJob } from '../../../slurm-config/guard/slurm-work.ts';
import { buildControllerStatefulSet } from '../objects/stateful-set.ts';
import type { ObservedController } from '../observe.ts';
import { controllerStatus } from '../status.ts';
import { decideController } from './decide.ts';
import { type ControllerMemory, emptyControllerMemory } from './memory.ts';
import { type ControllerPlan, planController, rememberController } from './plan.ts';
import { desiredSlurmConf } from './render.ts';
import { hashes } from './slurmctld-pods.ts';

const job: WorkJob = {
  id: '7',
  active: true,
  partitions: ['adhoc'],
  nodes: ['w-0'],
  gres: [],
  array: false,
};
const slurm = (jobs: readonly WorkJob[], partitions: readonly string[]) =>
  slurmWork({
    jobs,
    partitions: new Map(partitions.map((name) => [name, true])),
    nodeCount: 1,
    jobCount: jobs.length,
  });

/** A cluster whose slurmctld runs with `runs` and is to run with `spec`. */
function observed(spec: object, runs: object, over: Partial<ObservedController> = {}): ObservedController {
  const of = (content: object) =>
    observedController({
      controller: { ...aController(content), status: { configHash: 'old' } },
      pods: [podFacts({ ready: true, running: true, revision: 'one' })],
      withoutAccounting: true,
      filesInForce: digestOf([]),
      slurmdbd: { image: undefined, updating: true },
      ...over,
    });
  const before = of(runs);
  const { controller } = before;
  const set = buildControllerStatefulSet({ controller, defaults: operatorDefaults, hashes: hashes(before) });
  const after = of(spec);
  return { ...after, statefulSet: { ...after.statefulSet, template: set.spec?.template } };
}

const old = { slurmctld: { image: 'slurmctld:26.05' } };

function decide(
  given: ObservedController,
  work: SlurmWork,
  annotations: Record<string, string> = {},
  now = 0,
) {
  const { controller } = given;
  const text = desiredSlurmConf(given, operatorDefaults) ?? '';
  const annotated = { ...controller, metadata: { ...controller.metadata, annotations } };
  return decideController({ ...given, controller: annotated }, operatorDefaults, {
    evidence: { inForce: { text, owners: {} }, slurm: work },
    now,
  });
}

const restarts: Readonly<Record<string, ObservedController>> = {
  'a new image': observed({ slurmctld: { image: 'slurmctld:26.05-2' } }, old),
  'a new template': observed({ ...old, template: { spec: { priorityClassName: 'high' } } }, old),
  'another key': observed(
    { ...old, slurmKeyRef: { name: 'slurm-auth', key: 'slurm.key' } },
    { ...old, slurmKeyRef: { name: 'other', key: 'slurm.key' } },
  ),
};

for (const [what, given] of Object.entries(restarts))
  test(`${what} of slurmctld waits for the jobs of a partition that was created with scontrol`, () => {
    const plan = decide(given, slurm([job], ['adhoc']));
    assert.match(plan.configHold?.waiting?.items[0]?.message ?? '', /slurmctld is not restarted.*adhoc.*7/);
    assert.equal(plan.statefulSet, undefined, 'slurmctld is restarted, and forgets adhoc with job 7');
    const { conditions } = controllerStatus(given, plan, []);
    const progress = conditions.find(({ type }) => type === 'Progressing');
    assert.equal(progress?.reason, 'RestartHeld');
    assert.match(progress?.message ?? '', /To apply it at once.*force-config=/);
    assert.notEqual(decide(given, slurm([job], [])).statefulSet, undefined, 'nothing would be lost');
  });

test('each step of a change of slurm.key waits for these jobs, also in the plan that writes the keys', () => {
  const keySet = { keys: ['before'], signing: 'before', since: 0, used: true };
  const pods = [
    podFacts({
      ready: true,
      running: true,
      revision: 'one',
      annotations: { [annotation.slurmKeyHash]: 'before' },
    }),
  ];
  const given = observed(old, old, { keySet, pods });
  const { template } = buildControllerStatefulSet({
    controller: given.controller,
    defaults: operatorDefaults,
    hashes: hashes(given),
  }).spec ?? { template: undefined };
  const runs = { ...given, statefulSet: { ...given.statefulSet, template } };
  const plan = decide(runs, slurm([job], ['adhoc']), {}, 600_000);
  assert.equal(plan.keyRotation?.write, true, 'the keys are written, so that workers learn of both');
  assert.equal(plan.statefulSet, undefined, 'slurmctld is restarted, and forgets adhoc with job 7');
  const after = { ...runs, keySet: plan.keyRotation?.keySet };
  assert.equal(decide(after, slurm([job], ['adhoc']), {}, 601_000).statefulSet, undefined);
  assert.notEqual(decide(after, slurm([job], []), {}, 602_000).statefulSet, undefined);
});

const inPod = { persistence: { enabled: false } };

test('a slurmctld whose state is in its pod is not restarted for a new jwt.key before Slurm has said that it has no jobs', () => {
  const given = observed(
    { ...old, ...inPod, jwtKeyRef: { name: 'slurm-jwt', key: 'jwt.key' } },
    { ...old, ...inPod, jwtKeyRef: { name: 'before', key: 'jwt.key' } },
  );
  const refused: SlurmWork = { kind: 'unknown', why: 'jwt.key has changed.', mayHaveJobs: true };
  const plan = decide(given, refused);
  assert.equal(plan.statefulSet, undefined, 'slurmctld is restarted and forgets every job');
  assert.match(
    plan.configHold?.waiting?.items[0]?.message ?? '',
    /keeps its state in its pod .*would forget its jobs.*jwt\.key has changed/,
  );
  assert.equal(decide(given, slurm([job], [])).statefulSet, undefined, 'it answers, and has a job');
  assert.notEqual(decide(given, slurm([], [])).statefulSet, undefined);
});

test('each step of a change of slurm.key waits for every job where the state is in the pod', () => {
  const given = observed(
    { ...old, ...inPod, slurmKeyRef: { name: 'slurm-auth', key: 'slurm.key' } },
    { ...old, ...inPod, slurmKeyRef: { name: 'other', key: 'slurm.key' } },
  );
  assert.equal(decide(given, slurm([job], [])).statefulSet, undefined);
  assert.notEqual(decide(given, slurm([], [])).statefulSet, undefined);
});

test('a slurmctld that crashes keeps its jobs in its pod, and its pod is not replaced', () => {
  const crashed = podFacts({
    ready: false,
    running: false,
    everStarted: true,
    waiting: 'CrashLoopBackOff',
    restarts: 3,
  });
  const silent: SlurmWork = { kind: 'unknown', why: 'no answer', mayHaveJobs: true };
  const image = { slurmctld: { image: 'slurmctld:26.05-2' } };
  const withPods = (over: object, pod = crashed) =>
    observed({ ...image, ...over }, { ...old, ...over }, { pods: [pod] });
  assert.equal(decide(withPods(inPod), silent).statefulSet, undefined, 'its state goes with its pod');
  assert.notEqual(decide(withPods({}), silent).statefulSet, undefined, 'its state is in a volume');
  const never = podFacts({ ready: false, running: false, everStarted: false, waiting: 'ImagePullBackOff' });
  assert.notEqual(decide(withPods(inPod, never), silent).statefulSet, undefined, 'it never ran');
  // It would try at once with the new files; in its pod it tries a little later.
  const changed = { configHash: 'old' };
  const retried = (over: object) =>
    decide(
      { ...withPods(over), controller: { ...withPods(over).controller, status: changed } },
      slurm([], []),
    ).restart.map(({ name }) => name);
  assert.deepEqual(retried({}), ['pod-0']);
  assert.deepEqual(retried(inPod), []);
});

test('a PrologSlurmctld that left slurm.conf holds a restart until slurmctld has read that for certain', () => {
  const given = restarts['a new image'] as ObservedController;
  const text = desiredSlurmConf(given, operatorDefaults) ?? '';
  const starting = slurm([{ ...job, partitions: ['all'], startingSince: 0 }], []);
  const plan = (memory: ControllerMemory, inForce: string, now: number) =>
    planController(
      {
        ...given,
        evidence: { inForce: { text: inForce, owners: {} }, slurm: starting },
        liveStatefulSet: undefined,
        hasConfig: true,
        observationProblems: [],
        memory,
      },
      operatorDefaults,
      now,
    );
  const isHeld = ({ decision }: ControllerPlan) => decision.statefulSet === undefined;
  const before = plan(emptyControllerMemory, `PrologSlurmctld=/etc/slurm/prolog.sh\n${text}`, 0);
  const at = (now: number) =>
    plan(
      rememberController(before, [], () => true),
      text,
      now,
    );
  assert.equal(isHeld(at(200_000)), true, 'the side container waits two minutes for such jobs');
  assert.equal(isHeld(at(241_000)), false, 'the job waits for its nodes');
  const started = plan(emptyControllerMemory, text, 0);
  assert.equal(isHeld(started), true, 'an operator that has just started does not know what was before');
  assert.equal(
    isHeld(
      plan(
        rememberController(started, [], () => true),
        text,
        241_000,
      ),
    ),
    false,
  );
});

test('a held restart is forced by the token in its message', () => {
  const given = restarts['a new image'] as ObservedController;
  const token = decide(given, slurm([job], ['adhoc'])).configHold?.waiting?.token ?? '';
  const since = new Date(0).toISOString();
  const status = { configHash: 'old', heldConfig: { since } };
  const waiting = { ...given, controller: { ...given.controller, status } };
  const forced = decide(waiting, slurm([job], ['adhoc']), { [annotation.forceConfig]: token });
  assert.notEqual(forced.statefulSet, undefined);
});

test('an unchanged template restarts nothing, and a pod that does not run has nothing to lose', () => {
  const same = observed(old, old);
  assert.equal(decide(same, slurm([job], ['adhoc'])).wantedRestart, undefined);
  const changed = restarts['a new image'] as ObservedController;
  const down = { ...changed, pods: [podFacts({ ready: false, running: false })] };
  assert.notEqual(decide(down, slurm([job], ['adhoc'])).statefulSet, undefined);
  const lost = { ...changed, pods: [podFacts({ running: false, lostWith: 'node-1' })] };
  assert.equal(decide(lost, slurm([job], ['adhoc'])).statefulSet, undefined, 'it may still run there');
});

test('a field that left the template is a restart', () => {
  const given = observed(old, old);
  const noted = { ...given, statefulSet: { ...given.statefulSet, templateDigest: 'another' } };
  assert.notEqual(decide(noted, slurm([job], [])).wantedRestart, undefined);
});

test('with a standby only the replacement of the active slurmctld waits, and fewer standbys wait', () => {
  const pods = [
    podFacts({ name: 'slurm-controller-0', ready: true, running: true, revision: 'old' }),
    podFacts({ name: 'slurm-controller-1', ready: false, running: true, revision: 'old' }),
  ];
  const two = { ...old, ha: { enabled: true, backups: 1 } };
  const set = (given: ObservedController, replicas: number): ObservedController => ({
    ...given,
    statefulSet: { ...given.statefulSet, replicas, revision: 'new' },
  });
  const both = set(observed(two, two, { pods }), 2);
  const work = slurm([job], ['adhoc']);
  assert.equal(decide(both, work).renew?.name, 'slurm-controller-1', 'the standby has nothing to lose');
  const [active, standby] = pods;
  const last = { ...both, pods: [active, { ...standby, revision: 'new' }] } as ObservedController;
  assert.equal(decide(last, work).renew, undefined);
  assert.equal(decide(last, slurm([job], [])).renew?.name, 'slurm-controller-0');
  const slow = { ...both, pods: pods.map((pod) => ({ ...pod, ready: false })) };
  assert.equal(decide(slow, work).renew, undefined, 'none responds in time: one of them is the active one');
  const broken = { ...slow, pods: pods.map((pod) => ({ ...pod, ready: false, running: false })) };
  assert.equal(
    decide(broken, work).renew?.name,
    'slurm-controller-0',
    'what does not run has nothing to lose',
  );
  const fewer = set(observed(old, old, { pods }), 2);
  assert.equal(decide(fewer, work).statefulSet, undefined);
});
