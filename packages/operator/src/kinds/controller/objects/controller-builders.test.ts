import assert from 'node:assert/strict';
import { test } from 'node:test';
import { label } from '@slurm-operator/api';
import { assertGolden } from '../../../../testing/golden.ts';
import { aController, aNodeSet, anAccounting, operatorDefaults } from '../../../../testing/objects.ts';
import { slurmctldEndpoints } from '../../../objects/slurmctld-endpoints.ts';
import { topLevelSettings } from '../../../slurm-config/parse.ts';
import { buildControllerConfig } from '../../../slurm-config/render/config-map.ts';
import {
  buildExternalSlurmConf,
  buildSlurmConf,
  maxNodeCount,
  type SlurmConfInput,
} from '../../../slurm-config/render/slurm-conf.ts';
import { autoscaledPrefixes, waitForNodesFile } from '../../../slurm-config/render/wait-for-nodes.ts';
import { buildCluster } from './cluster.ts';
import { buildServiceMonitor } from './service-monitor.ts';
import { buildControllerServices } from './services.ts';
import { buildControllerStatefulSet } from './stateful-set.ts';

const hashes = { slurmKey: 'hash-of-slurm-key', jwtKey: 'hash-of-jwt-key', restart: 'hash-of-restart' };
const noScripts = { prolog: [], epilog: [], prologSlurmctld: [], epilogSlurmctld: [] };
const input = (over: Partial<SlurmConfInput> = {}): SlurmConfInput => ({
  controller: aController(),
  accounting: undefined,
  nodeSets: [],
  scripts: noScripts,
  ...over,
});

const workloads = {
  minimal: {},
  'high-availability': {
    ha: { enabled: true, backups: 2 },
    persistence: { enabled: true, existingClaim: 'shared' },
  },
  'no-persistence': { persistence: { enabled: false } },
  'fix-ownership': { persistence: { existingClaim: 'on-nfs', fixOwnership: true } },
  'own-claim': { persistence: { storageClassName: 'fast', resources: { requests: { storage: '10Gi' } } } },
  'custom-port': {
    service: { port: 16_817, nodePort: 30_817, spec: { type: 'NodePort', externalIPs: ['1.2.3.4'] } },
  },
  files: {
    configFileRefs: [{ name: 'zeta' }, { name: 'alpha' }],
    prologScriptRefs: [{ name: 'alpha' }],
    jwksKeyRef: { name: 'keys', key: 'jwks' },
  },
  overrides: {
    slurmctld: { image: 'images.example/slurmctld:24.11', args: ['-vv'], env: [{ name: 'A', value: '' }] },
    reconfigure: { resources: { limits: { memory: '64Mi' } } },
    template: {
      metadata: { labels: { team: 'hpc' }, annotations: { note: 'x' } },
      spec: { tolerations: [{ key: 'control', operator: 'Exists' }], priorityClassName: 'high' },
    },
  },
};

for (const [name, spec] of Object.entries(workloads))
  test(`the objects of a Controller: ${name}`, () => {
    const controller = aController(spec);
    assertGolden(`controller/${name}.yaml`, [
      ...buildControllerServices(controller),
      buildControllerStatefulSet({ controller, defaults: operatorDefaults, hashes }),
      buildCluster(controller),
    ]);
  });

test('fixOwnership adds an init container with two capabilities and the state volume, and nothing to the claim', () => {
  const spec = (persistence: object) =>
    buildControllerStatefulSet({
      controller: aController({ persistence }),
      defaults: operatorDefaults,
      hashes,
    }).spec;
  const { template, volumeClaimTemplates } = spec({ fixOwnership: true }) ?? {};
  const [container, ...others] = template?.spec?.initContainers ?? [];
  assert.deepEqual(others, []);
  assert.deepEqual(container?.securityContext?.capabilities, {
    drop: ['ALL'],
    add: ['CHOWN', 'DAC_OVERRIDE'],
  });
  assert.deepEqual(
    container?.volumeMounts?.map(({ name }) => name),
    ['statesave'],
  );
  assert.deepEqual(volumeClaimTemplates, spec({})?.volumeClaimTemplates);
  for (const without of [{}, { fixOwnership: false }, { enabled: false, fixOwnership: true }])
    assert.equal(spec(without)?.template.spec?.initContainers, undefined, JSON.stringify(without));
});

const configurations: Record<string, Partial<SlurmConfInput>> = {
  minimal: {},
  everything: {
    controller: aController({
      clusterName: 'prod',
      ha: { enabled: true, backups: 1 },
      persistence: { existingClaim: 'shared' },
      metrics: { enabled: true },
      jwksKeyRef: { name: 'keys', key: 'jwks' },
      extraConf:
        'SchedulerType=sched/backfill\nReturnToService=1\nSlurmctldParameters=idle_on_node_suspend\n',
    }),
    accounting: anAccounting({ service: { port: 16_819 } }, { name: 'acct' }),
    nodeSets: [
      aNodeSet({ partition: { enabled: true, config: 'State=UP  MaxTime=UNLIMITED' } }, { name: 'b' }),
      aNodeSet({ template: { spec: { hostname: 'gpu-' } }, partition: { enabled: true } }, { name: 'a' }),
    ],
    scripts: {
      prolog: ['b.sh', 'a.sh'],
      epilog: ['e.sh'],
      prologSlurmctld: ['p.sh'],
      epilogSlurmctld: ['q.sh'],
    },
  },
  autoscaled: {
    controller: aController({ maxAwake: 8 }),
    nodeSets: [
      aNodeSet({ autoscale: { max: 4, startWithin: '20m' } }, { name: 'gpu' }),
      aNodeSet({ replicas: 2 }, { name: 'static' }),
    ],
    scripts: { ...noScripts, prologSlurmctld: ['site.sh'] },
  },
  'external-accounting': {
    accounting: anAccounting({ external: true, externalConfig: { host: 'dbd.example.com', port: 7000 } }),
  },
};

for (const [name, over] of Object.entries(configurations))
  test(`slurm.conf: ${name}`, () => {
    assertGolden(`slurm-conf/${name}.conf`, buildSlurmConf(input(over)).text);
  });

test('slurm.conf for an external slurmctld', () => {
  const controller = aController({
    external: true,
    externalConfig: { host: 'head.example.com', port: 7777 },
  });
  assertGolden(
    'slurm-conf/external.conf',
    buildExternalSlurmConf({ controller, accounting: undefined }).text,
  );
});

test('where people may come to a worker by ssh, every job has the step that pam_slurm_adopt knows it by', () => {
  const flags = (ssh: boolean, extraConf = '') => {
    const nodeSets = [aNodeSet({}, { name: 'a' }), aNodeSet({ ssh: { enabled: ssh } }, { name: 'b' })];
    const { text } = buildSlurmConf(input({ controller: aController({ extraConf }), nodeSets }));
    return topLevelSettings(text).get('prologflags')?.value;
  };
  assert.equal(flags(true), 'Contain');
  assert.deepEqual(flags(true, 'PrologFlags=Serial')?.split(',').toSorted(), ['Contain', 'Serial']);
  assert.equal(flags(false), undefined);
  assert.equal(flags(false, 'PrologFlags=Serial'), 'Serial');
});

test('the same input in another order makes the same file', () => {
  const sets = [aNodeSet({}, { name: 'a' }), aNodeSet({}, { name: 'b' }), aNodeSet({}, { name: 'c' })];
  const one = buildSlurmConf(input({ nodeSets: sets })).text;
  assert.equal(buildSlurmConf(input({ nodeSets: sets.toReversed() })).text, one);
});

test('a custom port is the one that slurmctld listens on and that everybody is told (upstream weakness 7)', () => {
  const controller = aController({ service: { port: 16_817 } });
  assert.equal(
    topLevelSettings(buildSlurmConf(input({ controller })).text).get('slurmctldport')?.value,
    '16817',
  );
  const [container] =
    buildControllerStatefulSet({ controller, defaults: operatorDefaults, hashes }).spec?.template.spec
      ?.containers ?? [];
  assert.equal(container?.ports?.[0]?.containerPort, 16_817);
  for (const service of buildControllerServices(controller))
    assert.equal(service.spec?.ports?.[0]?.port, 16_817);
  assert.deepEqual(slurmctldEndpoints(controller), [{ host: 'slurm-controller-0.hpc', port: 16_817 }]);
  const accounting = anAccounting({ service: { port: 16_819 } });
  assert.equal(
    topLevelSettings(buildSlurmConf(input({ controller, accounting })).text).get('accountingstorageport')
      ?.value,
    '16819',
  );
});

test('external accounting is what slurm.conf points at (upstream weakness 5)', () => {
  const accounting = anAccounting({
    external: true,
    externalConfig: { host: 'dbd.example.com', port: 7000 },
  });
  const settings = topLevelSettings(buildSlurmConf(input({ accounting })).text);
  assert.equal(settings.get('accountingstoragehost')?.value, 'dbd.example.com');
  assert.equal(settings.get('accountingstorageport')?.value, '7000');
});

test('no Service depends on a label that the operator must keep setting (upstream weakness 2)', () => {
  for (const service of buildControllerServices(aController()))
    assert.equal(service.spec?.selector?.[label.activeController], undefined);
});

test('MaxNodeCount follows the need, in steps (upstream weakness 26)', () => {
  const count = (...replicas: number[]) =>
    maxNodeCount(
      aController(),
      replicas.map((each, index) => aNodeSet({ replicas: each }, { name: `n${index}` })),
    );
  assert.equal(count(), 1024);
  assert.equal(count(500), 1024);
  assert.equal(count(500, 100), 2048);
  assert.equal(count(5000), 16_384);
  assert.equal(count(60_000), 65_533);
  assert.equal(
    maxNodeCount(aController(), [aNodeSet({ replicas: 5 })], 600),
    2048,
    'workers of NodeSets that are being deleted still have nodes',
  );
  assert.equal(maxNodeCount(aController({ maxNodeCount: 42 }), [aNodeSet({ replicas: 5000 })]), 42);
});

test('the script that waits for woken nodes is there while slurm.conf names it', () => {
  const nodeSets = [aNodeSet({ autoscale: { max: 4 } }, { name: 'gpu' }), aNodeSet({}, { name: 'static' })];
  const script = (slurmConf: string, sets: typeof nodeSets) =>
    buildControllerConfig({
      controller: aController(),
      slurmConf,
      accounting: false,
      userCgroupConf: false,
      autoscaled: autoscaledPrefixes(sets),
    }).data?.[waitForNodesFile];
  const { text } = buildSlurmConf(input({ nodeSets }));
  assert.match(script(text, nodeSets) ?? '', /in \*gpu-\*\) ;;/);
  assert.match(script(text, []) ?? '', /^exit 0$/m, 'a slurm.conf that is held still names it');
  assert.equal(script(buildSlurmConf(input()).text, []), undefined);
  const own = aController({ extraConf: 'PrologSlurmctld=/site/prolog' });
  assert.equal(script(buildSlurmConf(input({ controller: own, nodeSets })).text, nodeSets), undefined);
});

test('a user’s cgroup.conf takes the place of ours', () => {
  const config = (userCgroupConf: boolean) =>
    Object.keys(
      buildControllerConfig({ controller: aController(), slurmConf: 'x\n', accounting: true, userCgroupConf })
        .data ?? {},
    );
  assert.deepEqual(config(false), ['slurm.conf', 'cgroup.conf']);
  assert.deepEqual(config(true), ['slurm.conf']);
});

test('labels that describe a chart are not passed on, other labels of the custom resource are', () => {
  const controller = aController(
    {},
    {
      labels: { 'helm.sh/chart': 'slurm-1.2.3', 'app.kubernetes.io/version': '26.05', team: 'hpc' },
      annotations: {
        'meta.helm.sh/release-name': 'x',
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
        note: 'y',
      },
    },
  );
  const { metadata } = buildControllerStatefulSet({ controller, defaults: operatorDefaults, hashes });
  const labels = metadata.labels ?? {};
  assert.equal(labels['team'], 'hpc');
  assert.equal(labels['helm.sh/chart'], undefined);
  assert.equal(labels['app.kubernetes.io/version'], undefined);
  assert.equal(labels[label.managedBy], 'slurm-operator');
  const annotations = metadata.annotations ?? {};
  assert.equal(annotations['note'], 'y');
  assert.equal(
    Object.keys(annotations).some((key) => /helm|last-applied/.test(key)),
    false,
  );
});

test('creates a ServiceMonitor on request, with the default paths or the given ones', () => {
  assert.equal(buildServiceMonitor(aController()), undefined);
  assert.equal(
    buildServiceMonitor(aController({ metrics: { enabled: false, serviceMonitor: { enabled: true } } })),
    undefined,
  );
  const usual = buildServiceMonitor(
    aController({ metrics: { enabled: true, serviceMonitor: { enabled: true, interval: '30s' } } }),
  );
  const given = buildServiceMonitor(
    aController({
      metrics: {
        enabled: true,
        serviceMonitor: {
          enabled: true,
          labels: { release: 'prometheus' },
          endpoints: [{ path: '/x', interval: '1m' }],
        },
      },
    }),
  );
  assert.ok(usual && given);
  assertGolden('controller/service-monitors.yaml', [usual, given]);
});

test('every daemon logs to its own output, without a pipe between (upstream weakness 46)', () => {
  const controller = aController();
  const set = buildControllerStatefulSet({ controller, defaults: operatorDefaults, hashes });
  const { spec } = set.spec?.template ?? {};
  assert.equal(spec?.initContainers, undefined, 'no side container reads the log');
  const { text } = buildSlurmConf({
    controller,
    accounting: undefined,
    nodeSets: [],
    scripts: noScripts,
  });
  assert.doesNotMatch(text, /LogFile/, 'slurmctld in the foreground writes to its standard error');
  assert.equal(
    set.spec?.template.metadata?.annotations?.['kubectl.kubernetes.io/default-container'],
    'slurmctld',
  );
});
