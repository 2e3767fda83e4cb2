/** Rows for the chart `slurm`. */
import { type Leaf, type Row, row } from './upstream-leaf.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const toleration = [{ key: 'hpc', operator: 'Exists' }];
const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } };
const resources = { limits: { memory: '3Gi' } };

/** What makes a component exist, for rows that are rendered alone: a digest takes precedence over a tag. */
const present: Readonly<Record<string, object>> = {
  accounting: { accounting: { enabled: true } },
  loginsetDefaults: { loginsets: { b: {} } },
  nodesetDefaults: { nodesets: { a: {} } },
};

/** What each component has alike: image, resources, metadata, pod template, Service. */
// biome-ignore format: one row each
function component(prefix: string, kind: string, container: string, ownService = true): Row[] {
  const pod = `${kind} spec.template.spec`;
  return [
    [`${prefix}.${container}.image.repository`, `images.example/${container}`, `${kind} spec.${container}.image`, new RegExp(`^images.example/${container}`)],
    [`${prefix}.${container}.image.tag`, 't1', `${kind} spec.${container}.image`, /:t1/],
    [`${prefix}.${container}.image.digest`, digest, `${kind} spec.${container}.image`, new RegExp(`@${digest}$`), present[prefix] ?? {}],
    [`${prefix}.${container}.resources`, resources, `${kind} spec.${container}.resources`],
    [`${prefix}.metadata`, { labels: { team: prefix }, annotations: { note: prefix } }, `${kind} metadata.labels.team`, prefix],
    [`${prefix}.podSpec.resources`, resources, `${pod}.resources`],
    [`${prefix}.podSpec.initContainers`, [{ name: 'first', image: 'x' }], `${pod}.initContainers`],
    [`${prefix}.podSpec.nodeSelector.kubernetes.io/os`, 'windows', `${pod}.nodeSelector.kubernetes.io/os`],
    [`${prefix}.podSpec.affinity`, affinity, `${pod}.affinity`],
    [`${prefix}.podSpec.tolerations`, toleration, `${pod}.tolerations`],
    ...(ownService
      ? ([
          [`${prefix}.service.metadata`, { annotations: { lb: 'internal' } }, `${kind} spec.service.metadata.annotations.lb`, 'internal'],
          [`${prefix}.service.spec`, { type: 'NodePort' }, `${kind} spec.service.spec.type`, 'NodePort'],
        ] as Row[])
      : []),
  ];
}

// biome-ignore format: one row each
const sideContainer = (prefix: string, kind: string, name: string): Row[] => [
  [`${prefix}.${name}.image.repository`, `images.example/${name}`, `${kind} spec.${name}.image`, new RegExp(`^images.example/${name}`)],
  [`${prefix}.${name}.image.tag`, 't2', `${kind} spec.${name}.image`, /:t2/],
  [`${prefix}.${name}.image.digest`, digest, `${kind} spec.${name}.image`, new RegExp(`@${digest}$`), { ...present[prefix], [prefix]: { [name]: { image: { repository: 'x' } } } }],
  [`${prefix}.${name}.resources`, resources, `${kind} spec.${name}.resources`],
];

const mine = (key: string) => ({ name: 'mine', key });
const script = '#!/bin/sh\nexit 0\n';
const refs = [{ name: 'scripts-of-mine' }];
const scripts = (field: string, prefix: string): Row[] => [
  [`${field}s`, { 'a.sh': script }, `ConfigMap/slurm-${prefix}-scripts data.${prefix}-a.sh`, script],
  [`${field}Refs`, refs, `Controller spec.${field}Refs`, /scripts-of-mine/],
];

// biome-ignore format: one row each
const slurmRows: readonly Row[] = [
  ['nameOverride', 'other', 'Controller metadata.name', 'slurm-other', {}],
  ['fullnameOverride', 'other', 'Controller metadata.name', 'other', {}],
  ['namespaceOverride', 'team', 'Controller metadata.namespace', 'team', {}],
  ['asciiArt', false, undefined],
  ['imagePullSecrets', [{ name: 'pull' }], 'Controller spec.template.spec.imagePullSecrets'],
  ['imagePullPolicy', 'Always', 'Controller spec.slurmctld.imagePullPolicy'],
  ['priorityClass.enabled', true, 'Controller spec.template.spec.priorityClassName', 'urgent'],
  ['priorityClass.create', true, 'PriorityClass metadata.name', 'urgent'],
  ['priorityClass.name', 'urgent', 'PriorityClass metadata.name'],
  ['priorityClass.description', 'All of Slurm', 'PriorityClass description'],
  ['priorityClass.value', 5, 'PriorityClass value'],
  ['priorityClass.preemptionPolicy', 'Never', 'PriorityClass preemptionPolicy'],
  ['slurmKey.create', false, 'Controller spec.slurmKeyRef', mine('s'), { slurmKey: { secretRef: mine('s') } }],
  ['slurmKey.annotations', { a: 'b' }, 'Controller metadata.annotations.slinky.slurm.net/generate-slurm-key', /"a":"b"/],
  ['slurmKey.secretRef', mine('s'), 'Controller spec.slurmKeyRef', mine('s'), {}],
  ['jwtKey.create', false, 'Controller spec.jwtKeyRef', mine('j'), { jwtKey: { secretRef: mine('j') } }],
  ['jwtKey.annotations', { a: 'c' }, 'Controller metadata.annotations.slinky.slurm.net/generate-jwt-key', /"a":"c"/],
  ['jwtKey.secretRef', mine('j'), 'Controller spec.jwtKeyRef', mine('j'), {}],
  ['jwksKeys.enabled', true, 'Controller spec.jwksKeyRef', mine('jwks.json')],
  ['jwksKeys.configMapRef', mine('jwks.json'), 'Controller spec.jwksKeyRef'],
  ['clusterName', 'big', 'Controller spec.clusterName'],
  ['configFiles', { 'gres.conf': 'AutoDetect=nvml\n' }, 'ConfigMap/slurm-config-extra data.gres.conf', 'AutoDetect=nvml\n'],
  ...scripts('prologScript', 'prolog'),
  ...scripts('epilogScript', 'epilog'),
  ...scripts('prologSlurmctldScript', 'prolog-slurmctld'),
  ...scripts('epilogSlurmctldScript', 'epilog-slurmctld'),
  ...component('controller', 'Controller', 'slurmctld'),
  ...sideContainer('controller', 'Controller', 'reconfigure'),
  ...sideContainer('controller', 'Controller', 'logfile'),
  ['controller.external', true, 'Controller spec.external', true, { controller: { externalConfig: { port: 6817 } } }],
  ['controller.externalConfig.host', 'head', 'Controller spec.externalConfig.host', 'head', { controller: { external: true, externalConfig: { port: 6817 } } }],
  ['controller.externalConfig.port', 7000, 'Controller spec.externalConfig.port', 7000, { controller: { external: true } }],
  ['controller.slurmctld.args', ['-v'], 'Controller spec.slurmctld.args'],
  ['controller.inplaceReconfigure', true, 'Controller spec.inplaceReconfigure'],
  ['controller.ha.enabled', true, 'Controller spec.ha.enabled', true, { controller: { persistence: { existingClaim: 'state' } } }],
  ['controller.ha.backups', 2, 'Controller spec.ha.backups', 2, { controller: { ha: { enabled: true }, persistence: { existingClaim: 'state' } } }],
  ['controller.persistence.enabled', false, 'Controller spec.persistence.enabled', false, {}],
  ['controller.persistence.existingClaim', 'state', 'Controller spec.persistence.existingClaim', 'state', {}],
  ['controller.persistence.storageClassName', 'fast', 'Controller spec.persistence.storageClassName'],
  ['controller.persistence.accessModes', ['ReadWriteMany'], 'Controller spec.persistence.accessModes'],
  ['controller.persistence.resources.requests.storage', '9Gi', 'Controller spec.persistence.resources.requests.storage'],
  ['controller.extraConf', 'MaxJobCount=7', 'Controller spec.extraConf', /MaxJobCount=7/, {}],
  ['controller.extraConfMap', { MaxJobCount: 8, DebugFlags: ['a', 'b'] }, 'Controller spec.extraConf', /DebugFlags=a,b\nMaxJobCount=8/],
  ['controller.metrics.enabled', true, 'Controller spec.metrics.enabled'],
  ['controller.metrics.serviceMonitor.enabled', true, 'Controller spec.metrics.serviceMonitor.enabled'],
  ['controller.metrics.serviceMonitor.annotations', { a: 'b' }, 'Controller spec.metrics.serviceMonitor.annotations'],
  ['controller.metrics.serviceMonitor.labels', { release: 'p' }, 'Controller spec.metrics.serviceMonitor.labels'],
  ['controller.metrics.serviceMonitor.interval', '1m', 'Controller spec.metrics.serviceMonitor.interval'],
  ['controller.metrics.serviceMonitor.scrapeTimeout', '9s', 'Controller spec.metrics.serviceMonitor.scrapeTimeout'],
  ['controller.metrics.serviceMonitor.endpoints', [{ path: '/metrics/jobs' }], 'Controller spec.metrics.serviceMonitor.endpoints'],
  ...component('restapi', 'RestApi', 'slurmrestd'),
  ['restapi.replicas', 3, 'RestApi spec.replicas'],
  ['restapi.pdb.enabled', true, 'PodDisruptionBudget/slurm-restapi spec.minAvailable', 2],
  ['restapi.pdb.minAvailable', 2, 'PodDisruptionBudget/slurm-restapi spec.minAvailable'],
  ['restapi.pdb.maxUnavailable', 1, 'PodDisruptionBudget/slurm-restapi spec.maxUnavailable', 1, { restapi: { replicas: 3, pdb: { enabled: true } } }],
  ['restapi.slurmrestd.env', [{ name: 'A', value: 'b' }], 'RestApi spec.slurmrestd.env'],
  ['restapi.slurmrestd.args', ['-v'], 'RestApi spec.slurmrestd.args'],
  ...component('accounting', 'Accounting', 'slurmdbd'),
  ['accounting.enabled', true, 'Controller spec.accountingRef.name', 'slurm'],
  ['accounting.external', true, 'Accounting spec.external', true, { accounting: { enabled: true, externalConfig: { port: 6819 } } }],
  ['accounting.externalConfig.host', 'dbd', 'Accounting spec.externalConfig.host', 'dbd', { accounting: { enabled: true, external: true, externalConfig: { port: 6819 } } }],
  ['accounting.externalConfig.port', 7001, 'Accounting spec.externalConfig.port', 7001, { accounting: { enabled: true, external: true } }],
  ['accounting.slurmdbd.args', ['-v'], 'Accounting spec.slurmdbd.args'],
  ['accounting.storageConfig.host', 'db', 'Accounting spec.storageConfig.host'],
  ['accounting.storageConfig.port', 3307, 'Accounting spec.storageConfig.port'],
  ['accounting.storageConfig.database', 'acct', 'Accounting spec.storageConfig.database'],
  ['accounting.storageConfig.username', 'acct', 'Accounting spec.storageConfig.username'],
  ['accounting.storageConfig.passwordKeyRef.name', 'db', 'Accounting spec.storageConfig.passwordKeyRef.name'],
  ['accounting.storageConfig.passwordKeyRef.key', 'pw', 'Accounting spec.storageConfig.passwordKeyRef.key'],
  ['accounting.extraConf', 'PurgeJobAfter=3', 'Accounting spec.extraConf', /PurgeJobAfter=3/, { accounting: { enabled: true } }],
  ['accounting.extraConfMap', { PurgeJobAfter: 4 }, 'Accounting spec.extraConf', /PurgeJobAfter=4/],
  ['sssd.secretRef', mine('sssd.conf'), 'LoginSet spec.sssdConfRef', mine('sssd.conf'), { loginsets: { b: {} } }],
  ['sssd.conf', '[sssd]\n', 'Secret/slurm-sssd-conf stringData.sssd.conf', '[sssd]\n'],
  ['loginsets', { b: {} }, 'LoginSet metadata.name', 'slurm-login-b'],
  ...component('loginsetDefaults', 'LoginSet', 'login'),
  ...sideContainer('loginsetDefaults', 'LoginSet', 'initconf'),
  ['loginsetDefaults.enabled', false, 'LoginSet', null, { loginsets: { b: {} } }],
  ['loginsetDefaults.replicas', 2, 'LoginSet spec.replicas'],
  ['loginsetDefaults.strategy', { type: 'Recreate' }, 'LoginSet spec.strategy'],
  ['loginsetDefaults.login.env', [{ name: 'A', value: 'b' }], 'LoginSet spec.login.env'],
  ['loginsetDefaults.login.securityContext.privileged', true, 'LoginSet spec.login.securityContext.privileged'],
  ['loginsetDefaults.login.volumeMounts', [{ name: 'home', mountPath: '/home' }], 'LoginSet spec.login.volumeMounts'],
  ['loginsetDefaults.rootSshAuthorizedKeys', 'ssh-ed25519 A', 'LoginSet spec.rootSshAuthorizedKeys', /ssh-ed25519 A/],
  ['loginsetDefaults.extraSshdConfig', 'LoginGraceTime 60', 'LoginSet spec.extraSshdConfig', /LoginGraceTime 60/],
  ['loginsetDefaults.podSpec.volumes', [{ name: 'home', emptyDir: {} }], 'LoginSet spec.template.spec.volumes'],
  ['loginsetDefaults.service.spec.type', 'ClusterIP', 'LoginSet spec.service.spec.type', 'ClusterIP', { loginsets: { b: {} } }],
  ['nodesets', { a: {} }, 'NodeSet metadata.name', 'slurm-worker-a'],
  ...component('nodesetDefaults', 'NodeSet', 'slurmd', false),
  ...sideContainer('nodesetDefaults', 'NodeSet', 'logfile'),
  ['nodesetDefaults.enabled', false, 'NodeSet', null, { nodesets: { a: {} } }],
  ['nodesetDefaults.scalingMode', 'DaemonSet', 'NodeSet spec.scalingMode'],
  ['nodesetDefaults.replicas', 4, 'NodeSet spec.replicas'],
  ['nodesetDefaults.pinToNode', true, 'NodeSet spec.pinToNode'],
  ['nodesetDefaults.workloadDisruptionProtection', false, 'NodeSet spec.workloadDisruptionProtection'],
  ['nodesetDefaults.pruneSlurmNodeRecords', 'NodeNotFound', 'NodeSet spec.pruneSlurmNodeRecords'],
  ['nodesetDefaults.ordinalPadding', 3, 'NodeSet spec.ordinalPadding'],
  ['nodesetDefaults.oversubscribeNode', true, 'NodeSet spec.oversubscribeNode'],
  ['nodesetDefaults.slurmd.args', ['-v'], 'NodeSet spec.slurmd.args'],
  ['nodesetDefaults.slurmd.env', [{ name: 'A', value: 'b' }], 'NodeSet spec.slurmd.env'],
  ['nodesetDefaults.slurmd.volumeMounts', [{ name: 'home', mountPath: '/home' }], 'NodeSet spec.slurmd.volumeMounts'],
  ['nodesetDefaults.extraConf', 'Weight=2', 'NodeSet spec.extraConf', /Weight=2/, { nodesets: { a: {} } }],
  ['nodesetDefaults.extraConfMap', { Weight: 3, Features: ['x', 'y'] }, 'NodeSet spec.extraConf', /Features=x,y Weight=3/],
  ['nodesetDefaults.partition.enabled', true, 'NodeSet spec.partition.enabled'],
  ['nodesetDefaults.partition.config', 'State=UP', 'NodeSet spec.partition.config', /State=UP/, { nodesets: { a: { partition: { enabled: true } } } }],
  ['nodesetDefaults.partition.configMap', { State: 'DOWN' }, 'NodeSet spec.partition.config', /State=DOWN/],
  ['nodesetDefaults.ssh.enabled', true, 'NodeSet spec.ssh.enabled'],
  ['nodesetDefaults.ssh.extraSshdConfig', 'LoginGraceTime 61', 'NodeSet spec.ssh.extraSshdConfig', /LoginGraceTime 61/],
  ['nodesetDefaults.updateStrategy.type', 'OnDelete', 'NodeSet spec.updateStrategy.type'],
  ['nodesetDefaults.updateStrategy.rollingUpdate.maxUnavailable', 1, 'NodeSet spec.updateStrategy.rollingUpdate.maxUnavailable'],
  ['nodesetDefaults.updateStrategy.scheduledUpdate', { startTime: '2030-01-01T00:00:00Z', duration: '1h' }, 'NodeSet spec.updateStrategy.scheduledUpdate.duration', '1h'],
  ['nodesetDefaults.podSpec.volumes', [{ name: 'home', emptyDir: {} }], 'NodeSet spec.template.spec.volumes'],
  ['partitions.all.enabled', true, 'Controller spec.extraConf', /PartitionName=all Nodes=/],
  ['partitions.all.nodesets', ['a'], 'Controller spec.extraConf', /PartitionName=all Nodes=a /],
  ['partitions.all.config', 'MaxTime=5', 'Controller spec.extraConf', /PartitionName=all Nodes=ALL .*MaxTime=5/, { partitions: { all: { enabled: true } } }],
  ['partitions.all.configMap.Default', 'NO', 'Controller spec.extraConf', /PartitionName=all .*Default=NO/],
  ['partitions.all.configMap.MaxTime', '60', 'Controller spec.extraConf', /PartitionName=all .*MaxTime=60/],
  ['vendor.nvidia.dcgm.enabled', true, 'ConfigMap/slurm-prolog-dcgm data', /job-mapping/, { nodesets: { a: { slurmd: { resources: { limits: { 'nvidia.com/gpu': 8 } } } } } }],
  ['vendor.nvidia.dcgm.jobMappingDir', '/var/gpus', 'ConfigMap/slurm-prolog-dcgm data', /\/var\/gpus/, { vendor: { nvidia: { dcgm: { enabled: true } } }, nodesets: { a: { slurmd: { resources: { limits: { 'nvidia.com/gpu': 8 } } } } } }],
  ['vendor.nvidia.dcgm.scriptPriority', '50', 'ConfigMap/slurm-prolog-dcgm data', /prolog-50-dcgm/, { vendor: { nvidia: { dcgm: { enabled: true } } }, nodesets: { a: { slurmd: { resources: { limits: { 'nvidia.com/gpu': 8 } } } } } }],
  ['vendor.google.a3mega', [], undefined],
  ['vendor.google.a3ultra', [], undefined],
  ['extraObjects', [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-mine' } }], 'ConfigMap/slurm-mine metadata.name', 'slurm-mine'],
];

export const slurmLeaves: readonly Leaf[] = slurmRows.map(row);
