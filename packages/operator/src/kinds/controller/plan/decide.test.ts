import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation, conditionType } from '@slurm-operator/api';
import {
  aController,
  aNodeSet,
  anAccounting,
  operatorDefaults,
  podFacts as pod,
} from '../../../../testing/objects.ts';
import { currentStatefulSet, observedController } from '../../../../testing/observed-controller.ts';
import type { ObservedController } from '../observe.ts';
import { controllerStatus } from '../status.ts';
import { decideController } from './decide.ts';

const single = aController();
const withStandby = aController({
  ha: { enabled: true, backups: 1 },
  persistence: { enabled: true, existingClaim: 'state' },
});
const current = { ...currentStatefulSet, revision: 'two', slurmKey: 'new' };
const observed = (over: Partial<ObservedController> = {}): ObservedController =>
  observedController({
    controller: single,
    secrets: [
      { name: 'slurm-auth', keys: { 'slurm.key': 'new' } },
      { name: 'slurm-jwt', keys: { 'jwt.key': 'j' } },
    ],
    slurmdbd: { image: undefined, updating: true },
    statefulSet: current,
    ...over,
  });
const plan = (over?: Partial<ObservedController>) => decideController(observed(over), operatorDefaults);
const ha = { controller: withStandby };

test('workers reload a new key while slurmctld changes its own; so do workers that loaded a different one since', () => {
  const workers = [
    { name: 'never', uid: 'never', told: undefined },
    { name: 'old', uid: 'old', told: 'old' },
    { name: 'new', uid: 'new', told: 'new' },
  ];
  const changing = { ...current, slurmKey: 'old' };
  assert.deepEqual(plan({ workers, statefulSet: changing }).tell, {
    digest: 'new',
    workers: ['never', 'old'],
  });
  assert.deepEqual(
    plan({ workers }).tell.workers,
    ['never', 'old'],
    'a change of keys would wait for one that was never notified',
  );
  assert.deepEqual(
    plan({ workers, secrets: [], statefulSet: changing }).tell.workers,
    [],
    'a key that is away for a moment is no new key',
  );
});

test('the condition counts slurmctld and workers on an old key', () => {
  const over = {
    pods: [pod({ annotations: { [annotation.slurmKeyHash]: 'new', [annotation.jwtKeyHash]: 'old' } })],
    workers: [
      { name: 'w0', uid: 'w0', told: 'old' },
      { name: 'w1', uid: 'w1', told: undefined },
    ],
  };
  const { conditions } = controllerStatus(observed(over), plan(over), []);
  const found = conditions.find(({ type }) => type === conditionType.keysCurrent);
  assert.deepEqual(
    [found?.status, found?.message],
    ['False', '2 of 3 daemons still use an old key: pod-0, w0.'],
  );
});

test('a slurmctld that failed before its Accounting was ready starts again at once, and only once', () => {
  const [before, readyAt, later] = [1_000_000, 1_060_000, 1_061_000];
  const accounting = (status: string) => ({
    ...anAccounting(),
    status: {
      conditions: [
        {
          type: conditionType.ready,
          status,
          reason: 'Ready',
          message: '',
          lastTransitionTime: new Date(readyAt).toISOString(),
        },
      ],
    },
  });
  const restarts = (failedAt: number, status: string, waiting = 'CrashLoopBackOff') => {
    const controller = aController({ accountingRef: { name: 'slurm' } });
    const given = { controller, accounting: accounting(status) as never };
    const { configHash } = plan(given);
    const annotations = { 'controller.slinky.slurm.net/config-seen': configHash };
    const crashed = pod({ ready: false, running: false, waiting, failedAt, annotations });
    return plan({ ...given, pods: [crashed] }).restart.map(({ name }) => name);
  };
  assert.deepEqual(restarts(before, 'True'), ['pod-0']);
  assert.deepEqual(restarts(later, 'True'), [], 'it failed for another reason');
  assert.deepEqual(restarts(before, 'False'), [], 'slurmdbd is still away');
  assert.deepEqual(restarts(before, 'True', 'ImagePullBackOff'), []);
});

const renewals: readonly {
  readonly name: string;
  readonly over: Partial<ObservedController>;
  readonly renews: string | undefined;
}[] = [
  {
    name: 'one slurmctld is Kubernetes’ business',
    over: { pods: [pod({ revision: 'one' })] },
    renews: undefined,
  },
  {
    name: 'unless it is broken: Kubernetes would wait for it to recover',
    over: {
      pods: [pod({ revision: 'one', ready: false, running: false, waiting: 'CrashLoopBackOff' })],
    },
    renews: 'pod-0',
  },
  {
    name: 'a broken one of the current revision stays',
    over: {
      pods: [pod({ revision: 'two', ready: false, running: false, waiting: 'CrashLoopBackOff' })],
    },
    renews: undefined,
  },
  {
    name: 'the standby goes first',
    over: {
      ...ha,
      pods: [pod({ name: 'a', revision: 'one' }), pod({ name: 'b', revision: 'one', ready: false })],
    },
    renews: 'b',
  },
  {
    name: 'the active one goes when the new standby runs',
    over: {
      ...ha,
      pods: [pod({ name: 'a', revision: 'one' }), pod({ name: 'b', revision: 'two', ready: false })],
    },
    renews: 'a',
  },
  {
    name: 'and not before',
    over: {
      ...ha,
      pods: [
        pod({ name: 'a', revision: 'one' }),
        pod({ name: 'b', revision: 'two', ready: false, running: false }),
      ],
    },
    renews: undefined,
  },
  {
    name: 'nor while the other is being made',
    over: { ...ha, pods: [pod({ name: 'a', revision: 'one' })] },
    renews: undefined,
  },
  {
    name: 'what is current stays',
    over: {
      ...ha,
      pods: [pod({ name: 'a', revision: 'two' }), pod({ name: 'b', revision: 'two', ready: false })],
    },
    renews: undefined,
  },
  {
    name: 'no pod is deleted before Kubernetes has observed the new template',
    over: {
      ...ha,
      statefulSet: { ...current, updating: true, revision: undefined },
      pods: [pod({ name: 'a', revision: 'one' }), pod({ name: 'b', revision: 'one', ready: false })],
    },
    renews: undefined,
  },
];

for (const { name, over, renews } of renewals)
  test(`${name}: ${renews === undefined ? 'nothing is deleted' : `${renews} is deleted`}`, () =>
    assert.equal(plan(over).renew?.name, renews));

test('Ready is about the active slurmctld; who it is is not guessed when two say so (upstream weakness 22)', () => {
  const status = (...ready: boolean[]) => {
    const pods = ready.map((one, index) =>
      pod({ name: `slurm-controller-${index}`, ready: one, revision: 'two' }),
    );
    return controllerStatus(observed({ ...ha, pods }), plan({ ...ha, pods }), []);
  };
  assert.equal(status(false, true).fields?.['activeController'], 'slurm-controller-1');
  assert.equal(status(true, true).fields?.['activeController'], undefined);
  const one = status(false, true).conditions.find(({ type }) => type === conditionType.ready);
  assert.deepEqual([one?.status, one?.message], ['True', 'slurmctld responds in pod slurm-controller-1.']);
  assert.equal(
    status(false, false).conditions.find(({ type }) => type === conditionType.ready)?.status,
    'False',
  );
});

test('a missing Accounting changes nothing until it is there (upstream weakness 42)', () => {
  const controller = aController({ accountingRef: { name: 'gone' } });
  const { config, statefulSet, problems } = plan({ controller });
  assert.equal(config, undefined, 'the ConfigMap that is there stays, with its accounting');
  assert.equal(statefulSet, undefined);
  assert.deepEqual(
    problems.map(({ reason }) => reason),
    ['AccountingNotFound'],
  );
});

test('metrics are asked for only of a slurmctld that has them', () => {
  const conf = (image: string) => {
    const controller = aController({ metrics: { enabled: true }, slurmctld: { image } });
    const { config, problems } = plan({ controller });
    return [config?.data?.['slurm.conf']?.includes('MetricsType='), problems.map(({ reason }) => reason)];
  };
  assert.deepEqual(conf('slurmctld:26.05'), [true, []]);
  assert.deepEqual(conf('slurmctld:24.11'), [false, ['InvalidSpec']]);
});

test('files that are new to the pod wait for the slurm.conf that they belong to, and no pod without them reads it', () => {
  const controller = aController({ configFileRefs: [{ name: 'gres' }], extraConf: 'GresTypes=gpu' });
  const configMaps = [{ name: 'gres', keys: { 'gres.conf': 'g' } }];
  const old = [pod({ name: 'old', revision: 'one' })];
  const files = ['slurm-config', 'gres'];
  const told = (statefulSet: ObservedController['statefulSet'], pods = old) => {
    const { needsConfig, touch } = plan({ controller, configMaps, pods, statefulSet });
    return [needsConfig, touch];
  };
  const before = { ...current, revision: 'one' };
  assert.deepEqual(told(before), [true, []], 'the set has to bring them first');
  const written = { ...current, files, updating: true, revision: undefined };
  assert.deepEqual(told(written), [false, []], 'Kubernetes has not seen the set yet');
  assert.deepEqual(told({ ...current, files }), [false, []], 'the old pod is being deleted');
  assert.deepEqual(told({ ...current, files }, [pod({ name: 'new', revision: 'two' })]), [false, ['new']]);
  assert.deepEqual(told({ ...before, files }), [false, ['old']], 'only the content changed');
  assert.equal(
    plan({ controller, configMaps, statefulSet: { ...current, exists: false, files: [] } }).needsConfig,
    false,
  );
});

test('slurmctld keeps its image until slurmdbd has been upgraded, and everything else about it changes all the same', () => {
  const controller = aController({
    slurmctld: { image: 'slurmctld:26.05' },
    accountingRef: { name: 'slurm' },
    metrics: { enabled: true },
    extraConf: 'DebugFlags=Gres',
  });
  const accounting = anAccounting({
    slurmdbd: { image: 'slurmdbd:26.05' },
  }) as ObservedController['accounting'];
  const upgrade = (slurmdbd: ObservedController['slurmdbd'], exists = true) => {
    const statefulSet = { ...current, exists, image: exists ? 'slurmctld:24.11' : undefined };
    const {
      statefulSet: set,
      config,
      problems,
      ...rest
    } = plan({ controller, accounting, slurmdbd, statefulSet });
    const [first] = set?.spec?.template.spec?.containers ?? [];
    const conf = config?.data?.['slurm.conf'] ?? '';
    assert.match(conf, /DebugFlags=Gres/);
    return {
      image: first?.image,
      trial: rest.controller.spec.slurmctld?.image,
      metrics: conf.includes('MetricsType='),
      stuck: problems.find(({ reason }) => reason === 'AccountingOlder'),
    };
  };
  const waiting = upgrade({ image: 'slurmdbd:24.11', updating: false });
  assert.deepEqual(
    [waiting.image, waiting.trial, waiting.metrics],
    ['slurmctld:24.11', 'slurmctld:24.11', false],
  );
  assert.equal(waiting.stuck?.stillReady, true);
  const soon = upgrade({ image: 'slurmdbd:26.05', updating: true });
  assert.deepEqual([soon.image, soon.stuck?.passing], ['slurmctld:24.11', true]);
  const then = upgrade({ image: 'slurmdbd:26.05', updating: false });
  assert.deepEqual([then.image, then.metrics, then.stuck], ['slurmctld:26.05', true, undefined]);
  const fresh = upgrade({ image: 'slurmdbd:24.11', updating: false }, false);
  assert.deepEqual(
    [fresh.image, fresh.stuck?.stillReady],
    [undefined, false],
    'none is started beside an older slurmdbd',
  );
});

test('a slurmctld that runs without accounting learns of slurmdbd when that is there, and of everything else at once', () => {
  const controller = aController({ accountingRef: { name: 'slurm' }, extraConf: 'DebugFlags=Gres' });
  const added = (over: Partial<ObservedController>, accounting: object = {}) => {
    const seen = observed({
      controller,
      accounting: anAccounting(accounting),
      withoutAccounting: true,
      ...over,
    });
    const { config, problems, ...rest } = decideController(seen, operatorDefaults);
    const conf = config?.data?.['slurm.conf'] ?? '';
    assert.match(conf, /DebugFlags=Gres/);
    const enforced = rest.configHash;
    const { conditions } = controllerStatus(seen, { problems, ...rest, enforced }, []);
    const said = (type: string) => {
      const found = conditions.find((one) => one.type === type);
      return `${found?.status} ${found?.reason}`;
    };
    return {
      slurmdbd: conf.includes('AccountingStorageType=accounting_storage/slurmdbd'),
      without: config?.metadata.annotations?.['slinky.slurm.net/without-accounting'],
      applied: said(conditionType.configApplied),
      progressing: said(conditionType.progressing),
      degraded: said(conditionType.degraded),
    };
  };
  const waits = {
    slurmdbd: false,
    without: 'true',
    applied: 'False AccountingStarting',
    progressing: 'True AccountingStarting',
    degraded: 'False AsExpected',
  };
  const goes = {
    ...waits,
    slurmdbd: true,
    without: undefined,
    applied: 'True Applied',
    progressing: 'True Starting',
  };
  const ready = { image: 'slurmdbd:26.05', updating: false };
  assert.deepEqual(added({}), waits, 'slurmdbd was not made yet');
  assert.deepEqual(added({ slurmdbd: { ...ready, updating: true } }), waits, 'slurmdbd starts');
  assert.deepEqual(added({ slurmdbd: ready }), goes, 'slurmdbd is there');
  assert.deepEqual(added({ withoutAccounting: false }), goes, 'one that is away for a while is not dropped');
  const elsewhere = { external: true, externalConfig: { host: 'db' } };
  assert.deepEqual(added({}, elsewhere), goes, 'nothing is known about an external slurmdbd');
});

test('a standby is added only when the slurm.conf that names it is in force', () => {
  const set = { ...current, files: ['slurm-config'] };
  assert.equal(plan({ ...ha, statefulSet: set }).needsConfig, true);
  assert.equal(plan({ ...ha, statefulSet: { ...set, replicas: 2 } }).needsConfig, false);
  assert.equal(plan({ statefulSet: set }).needsConfig, false);
});

test('a configuration that no daemon has read is replaced without a trial', () => {
  const controller = { ...aController({ extraConf: 'DebugFlags=Gres' }), status: { configHash: 'other' } };
  const starting = { ready: false, running: false };
  const decided = (over: Partial<ObservedController>) => plan({ controller, ...over }).decision.kind;
  assert.equal(decided({ pods: [pod(starting)] }), 'enforce');
  assert.equal(decided({ pods: [pod({ ready: false })] }), 'try', 'slurmctld starts');
  assert.equal(decided({ pods: [pod({ ...starting, restarts: 1 })] }), 'try', 'slurmctld has started');
  assert.equal(decided({ pods: [] }), 'try', 'it may be replaced now');
  const cluster = { status: { slurmVersion: '26.05.5' } } as ObservedController['cluster'];
  assert.equal(decided({ pods: [pod(starting)], cluster }), 'try', 'it has answered before');
  const running = [{ image: 'slurmd:26.05', nodeSet: aNodeSet() }];
  assert.equal(decided({ pods: [pod(starting)], running }), 'try', 'a worker runs');
});
