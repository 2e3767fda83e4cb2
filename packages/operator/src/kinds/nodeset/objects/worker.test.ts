import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  annotation,
  applyDefaults,
  type Controller,
  controllerKind,
  label,
  type NodeSet,
  nodeSetKind,
} from '@slurm-operator/api';
import { slurmdConf, slurmSetName } from '../../../slurm-config/render/slurmd-conf.ts';
import { wakeUpAnnotation } from '../annotations.ts';
import { hostnamePrefix, workerClaims, workerPod } from './worker-pod.ts';
import { workerSshConfig } from './worker-ssh.ts';
import { workerTemplate } from './worker-template.ts';

const defaults = { clusterDomain: 'cluster.local', defaultImage: 'slurm-operator/slurmd:26.05' };

function nodeSetOf(spec: Partial<NodeSet['spec']> = {}): NodeSet {
  return applyDefaults(nodeSetKind, {
    apiVersion: 'slinky.slurm.net/v1beta1',
    kind: 'NodeSet',
    metadata: { name: 'gpu', namespace: 'slurm', uid: 'set-uid' },
    spec: { controllerRef: { name: 'main' }, ...spec },
  } as unknown as NodeSet);
}

const controller = applyDefaults(controllerKind, {
  apiVersion: 'slinky.slurm.net/v1beta1',
  kind: 'Controller',
  metadata: { name: 'main', namespace: 'slurm' },
  spec: { slurmKeyRef: { name: 'key', key: 'slurm.key' }, jwtKeyRef: { name: 'jwt', key: 'jwt.key' } },
} as unknown as Controller);

const slot = { mode: 'StatefulSet', ordinal: 7 } as const;

test('a worker in the network of its machine asks the DNS of the cluster, and has a host name without dots', () => {
  const spec = (over: object, mode: 'StatefulSet' | 'DaemonSet' = 'DaemonSet') => {
    const set = nodeSetOf({ scalingMode: mode, template: { spec: over } });
    const place = mode === 'DaemonSet' ? ({ mode, nodeName: 'm1.example.org' } as const) : slot;
    const identity = {
      slot: place,
      hostname: 'm1.example.org',
      revision: 'r',
      hashes: {},
      pinnedTo: undefined,
    };
    return workerPod(set, workerTemplate(set, controller, defaults), identity).spec;
  };
  assert.equal(spec({ hostNetwork: true })?.dnsPolicy, 'ClusterFirstWithHostNet');
  assert.equal(spec({ hostNetwork: true })?.hostname, 'm1');
  assert.equal(
    spec({ hostNetwork: true, dnsPolicy: 'Default' })?.dnsPolicy,
    'Default',
    'what the user writes wins',
  );
  assert.equal(spec({})?.dnsPolicy, undefined);
  const tolerated = (over: object, mode?: 'StatefulSet') =>
    (spec(over, mode)?.tolerations ?? []).map((each) => each.key?.split('/')[1]);
  assert.ok(tolerated({ hostNetwork: true }).includes('network-unavailable'));
  assert.ok(!tolerated({}).includes('network-unavailable'));
  assert.deepEqual(tolerated({}, 'StatefulSet'), ['worker']);
});

test('what slurmd is told comes from the pod, the set and the user, in a fixed order', () => {
  const cases: { reason: string; spec: Partial<NodeSet['spec']>; conf: string }[] = [
    { reason: 'without limits slurmd finds its size itself', spec: {}, conf: 'Feature=gpu' },
    {
      reason: 'limits become CPUs, memory in MiB and GPUs',
      spec: { slurmd: { resources: { limits: { cpu: '2500m', memory: '4Gi', 'nvidia.com/gpu': 8 } } } },
      conf: 'CPUs=2 Feature=gpu Gres=gpu:8 RealMemory=4096',
    },
    {
      reason: 'what the user writes wins, and features add up',
      spec: {
        extraConf: 'Features=fast,blue Weight=10 cpus=1',
        slurmd: { resources: { limits: { cpu: 4 } } },
      },
      conf: 'cpus=1 Feature=blue,fast,gpu Weight=10',
    },
    {
      reason: 'limits of the pod as a whole count, and those of the container take precedence',
      spec: {
        template: { spec: { resources: { limits: { cpu: 8, memory: '4Gi' } } } },
        slurmd: { resources: { limits: { cpu: 2 } } },
      },
      conf: 'CPUs=2 Feature=gpu RealMemory=4096',
    },
    {
      reason: 'what the image reserves is not presented: Slurm then sees the layout of the node',
      spec: {
        slurmd: {
          resources: { limits: { cpu: 2, memory: '4Gi' } },
          env: [{ name: 'POD_CPUS', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }],
        },
      },
      conf: 'Feature=gpu RealMemory=4096',
    },
    {
      reason: 'a host name stem names the set',
      spec: { template: { spec: { hostname: 'a100-' } } },
      conf: 'Feature=a100',
    },
  ];
  for (const { reason, spec, conf } of cases) assert.equal(slurmdConf(nodeSetOf(spec)), conf, reason);
  assert.equal(slurmSetName(nodeSetOf()), 'gpu');
});

test('a worker carries its identity and finds its controller', () => {
  const nodeSet = nodeSetOf({ ordinalPadding: 3, volumeClaimTemplates: [{ metadata: { name: 'scratch' } }] });
  const template = workerTemplate(nodeSet, controller, defaults);
  const pod = workerPod(nodeSet, template, {
    slot,
    hostname: `${hostnamePrefix(nodeSet)}007`,
    revision: 'abc',
    hashes: { 'slinky.slurm.net/slurm-key-hash': 'k1' },
    pinnedTo: undefined,
    forWakeUp: true,
  });
  assert.equal(pod.metadata?.name, 'gpu-007');
  assert.equal(pod.spec?.hostname, 'gpu-007');
  assert.equal(pod.spec?.subdomain, 'slurm-workers-main');
  assert.equal(pod.metadata?.labels?.[label.podIndex], '007');
  assert.equal(pod.metadata?.labels?.[label.cluster], 'main');
  assert.equal(pod.metadata?.labels?.[label.revision], 'abc');
  assert.equal(pod.metadata?.annotations?.[wakeUpAnnotation], 'true');
  assert.equal(pod.metadata?.annotations?.[annotation.defaultContainer], 'slurmd');
  assert.equal(pod.metadata?.annotations?.[annotation.slurmKeyHash], 'k1');
  const slurmd = pod.spec?.containers[0];
  assert.deepEqual(slurmd?.args?.slice(0, 6), [
    '-Z',
    '-b',
    '--instance-id',
    '$(POD_UID)',
    '--conf-server',
    'main-controller-0.slurm:6817',
  ]);
  assert.equal(
    pod.spec?.volumes?.find((volume) => volume.name === 'scratch')?.persistentVolumeClaim?.claimName,
    'scratch-gpu-007',
  );
  assert.deepEqual(
    workerClaims(nodeSet, slot, 'gpu-007').map((claim) => claim.metadata?.name),
    ['scratch-gpu-007'],
  );
});

test('slurmd reports its start as a boot only where slurmctld returns such a node to service', () => {
  const reports = (of: object, spec: object = {}) => {
    const changed = { ...controller, spec: { ...controller.spec, ...of } } as Controller;
    const [slurmd] = workerTemplate(nodeSetOf(spec), changed, defaults).spec.containers;
    return slurmd?.args?.includes('-b');
  };
  assert.equal(reports({}), true);
  assert.equal(reports({ extraConf: 'returntoservice = "2" # as by default' }), true);
  for (const value of [0, 1]) assert.equal(reports({ extraConf: `ReturnToService=${value}` }), false);
  assert.equal(reports({ extraConf: 'ReturnToService=1\nReturnToService=2' }), true);
  const external = { external: true, externalConfig: { host: 'slurm.example.com', port: 6817 } };
  assert.equal(reports(external), false, 'its slurm.conf is not known here');
  const autoscale = { autoscale: { max: 3 } };
  assert.equal(reports({ extraConf: 'ReturnToService=1' }, autoscale), true, 'a power-up ends with a boot');
});

test('DaemonSet mode pins by affinity to the name of the node, beside what the user wants', () => {
  const zone = { matchExpressions: [{ key: 'zone', operator: 'In' as const, values: ['a'] }] };
  const nodeSet = nodeSetOf({
    scalingMode: 'DaemonSet',
    template: {
      spec: {
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [zone] } },
        },
      },
    },
  });
  const pod = workerPod(nodeSet, workerTemplate(nodeSet, controller, defaults), {
    slot: { mode: 'DaemonSet', nodeName: 'machine-1' },
    hostname: 'machine-1',
    revision: 'abc',
    hashes: {},
    pinnedTo: undefined,
  });
  assert.equal(pod.metadata?.generateName, 'gpu-');
  const terms =
    pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  assert.deepEqual(terms, [
    { ...zone, matchFields: [{ key: 'metadata.name', operator: 'In', values: ['machine-1'] }] },
  ]);
  assert.ok(pod.spec?.affinity?.podAntiAffinity, 'one worker per machine stays');
});

test('24.11 is probed by TCP, and a user may make a worker unprivileged (upstream item 8)', () => {
  const old = workerTemplate(
    nodeSetOf({ slurmd: { image: 'slurmd:24.11', securityContext: { privileged: false } } }),
    controller,
    defaults,
  );
  assert.deepEqual(old.spec.containers[0]?.readinessProbe, {
    tcpSocket: { port: 'slurmd' },
    periodSeconds: 5,
    timeoutSeconds: 5,
  });
  assert.deepEqual(
    old.spec.containers[0]?.securityContext,
    {
      privileged: false,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], add: ['CHOWN', 'KILL', 'SETGID', 'SETUID'] },
    },
    'the least with which slurmd runs and cancels jobs of others',
  );
  const own = { privileged: false, capabilities: { add: ['SYS_ADMIN'] } };
  const chosen = workerTemplate(nodeSetOf({ slurmd: { securityContext: own } }), controller, defaults);
  assert.deepEqual(
    chosen.spec.containers[0]?.securityContext?.capabilities,
    { drop: ['ALL'], add: ['SYS_ADMIN'] },
    'capabilities that the user names are the user’s choice',
  );
});

test('a user toleration adds to the one of workers (upstream item 10)', () => {
  const { spec } = workerTemplate(
    nodeSetOf({ template: { spec: { tolerations: [{ key: 'gpu' }] } } }),
    controller,
    defaults,
  );
  assert.deepEqual(
    spec.tolerations?.map((toleration) => toleration.key),
    ['nodeset.slinky.slurm.net/worker', 'gpu'],
  );
});

test('ssh mounts its configuration and opens its port, and is absent otherwise', () => {
  const ssh = {
    enabled: true,
    extraSshdConfig: 'MaxSessions 5',
    sssdConfRef: { name: 'sssd', key: 'sssd.conf' },
  };
  const { spec } = workerTemplate(nodeSetOf({ ssh }), controller, defaults);
  const [slurmd] = spec.containers;
  assert.deepEqual(
    slurmd?.ports?.map((each) => each.containerPort),
    [6818, 22],
  );
  assert.ok(slurmd?.volumeMounts?.some((mount) => mount.mountPath === '/etc/sssd/sssd.conf'));
  assert.match(workerSshConfig(nodeSetOf({ ssh }))?.data.sshd_config ?? '', /UsePAM yes[^]*MaxSessions 5\n$/);
  assert.equal(workerSshConfig(nodeSetOf()), undefined);
  assert.equal(
    workerTemplate(nodeSetOf(), controller, defaults).spec.volumes?.some(
      (volume) => volume.name === 'sssd-conf',
    ),
    false,
  );
});

test('upstream item 9: a probe that names only a period keeps the way it is asked', () => {
  const nodeSet = nodeSetOf({ slurmd: { readinessProbe: { periodSeconds: 30 } } });
  const probe = workerTemplate(nodeSet, controller, defaults).spec.containers[0]?.readinessProbe;
  assert.deepEqual(probe, {
    httpGet: { path: '/readyz', port: 'slurmd' },
    periodSeconds: 30,
    timeoutSeconds: 5,
  });
});

test('a slurmd beside a job that takes every processor has seconds to answer before its jobs are killed with it', () => {
  const { livenessProbe } = workerTemplate(nodeSetOf(), controller, defaults).spec.containers[0] ?? {};
  const { timeoutSeconds = 1, periodSeconds = 10, failureThreshold = 3 } = livenessProbe ?? {};
  assert.ok(timeoutSeconds >= 10, `${timeoutSeconds} s for an answer`);
  assert.ok(periodSeconds * failureThreshold >= 60, 'and a minute before it fails');
});

test('upstream item 25: what a user adds to the configuration is one argument and meets no shell', () => {
  const nasty = 'Weight=5 Comment=`id`;reboot|x Gres=gpu:$(rm)';
  const { args = [], command } =
    workerTemplate(nodeSetOf({ extraConf: nasty }), controller, defaults).spec.containers[0] ?? {};
  assert.equal(command, undefined, 'the image is started as it is');
  assert.equal(args.length, 10);
  assert.equal(args[8], '--conf');
  assert.equal(args[9], "'Comment=`id`;reboot|x Feature=gpu Gres=gpu:$(rm) Weight=5'");
});

test('two workers share a machine only where the user allows it', () => {
  const affinity = (oversubscribeNode: boolean) =>
    workerTemplate(nodeSetOf({ oversubscribeNode }), controller, defaults).spec.affinity?.podAntiAffinity;
  assert.notEqual(affinity(false), undefined);
  assert.equal(affinity(true), undefined);
});

test('a claim takes the place of a volume of its name, and holds its NodeSet as the pod does', () => {
  const set = nodeSetOf({
    volumeClaimTemplates: [{ metadata: { name: 'data' } }],
    template: {
      spec: {
        volumes: [
          { name: 'data', emptyDir: {} },
          { name: 'scratch', emptyDir: {} },
        ],
      },
    },
  });
  const identity = { slot, hostname: 'gpu-7', revision: 'r', hashes: {}, pinnedTo: undefined };
  const pod = workerPod(set, workerTemplate(set, controller, defaults), identity);
  const named = (pod.spec?.volumes ?? []).filter(({ name }) => name === 'data' || name === 'scratch');
  assert.deepEqual(named, [
    { name: 'scratch', emptyDir: {} },
    { name: 'data', persistentVolumeClaim: { claimName: 'data-gpu-7' } },
  ]);
  const [owner] = pod.metadata?.ownerReferences ?? [];
  assert.deepEqual([owner?.uid, owner?.controller, owner?.blockOwnerDeletion], ['set-uid', true, true]);
});

test('a claim goes with its NodeSet only if the policy says so', () => {
  const owners = (whenDeleted: 'Retain' | 'Delete') => {
    const set = nodeSetOf({
      volumeClaimTemplates: [{ metadata: { name: 'data' } }],
      persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled: 'Retain' },
    });
    return workerClaims(set, slot, 'gpu-7').map((claim) =>
      claim.metadata?.ownerReferences?.map(({ uid }) => uid),
    );
  };
  assert.deepEqual(owners('Retain'), [undefined]);
  assert.deepEqual(owners('Delete'), [['set-uid']]);
});

test('high availability switched on or off leaves the address in --conf-server of older workers valid', () => {
  const serversOf = (spec: object) => {
    const { args = [] } =
      workerTemplate(nodeSetOf({}), { ...controller, spec: { ...controller.spec, ...spec } }, defaults).spec
        .containers[0] ?? {};
    return args[args.indexOf('--conf-server') + 1]?.split(',') ?? [];
  };
  const [alone] = serversOf({});
  const both = serversOf({ ha: { enabled: true, backups: 1 } });
  assert.equal(both.length, 2);
  assert.equal(both[0], alone);
});

test('the volume of logs has the name that templates of upstream users mount', () => {
  const { volumes = [], containers } = workerTemplate(nodeSetOf(), controller, defaults).spec;
  assert.ok(volumes.some(({ name }) => name === 'slurm-logfile'));
  assert.ok(
    containers[0]?.volumeMounts?.some(
      ({ name, mountPath }) => name === 'slurm-logfile' && mountPath === '/var/log/slurm',
    ),
  );
});
