/** Values that people give, each with a name: every rendering of them must be accepted by an API server. */

const gpu = { 'nvidia.com/gpu': 8 };
const endpoint = { path: '/metrics/jobs', interval: '1m' };

export const slurmMatrix: Readonly<Record<string, object>> = {
  defaults: {},
  'a registry and pull secrets': {
    registry: 'registry.example.com/hpc/',
    imagePullSecrets: ['a', { name: 'b' }],
  },
  'images as strings and digests': {
    controller: { slurmctld: { image: 'images.example:5000/slurmctld:x' } },
    restapi: { slurmrestd: { image: { digest: `sha256:${'0'.repeat(64)}` } } },
  },
  'keys of the user': {
    slurmKey: { create: false, secretRef: { name: 'mine', key: 'k' } },
    jwtKey: { create: false, secretRef: { name: 'mine', key: 'j' } },
  },
  'keys with annotations': { slurmKey: { annotations: { a: 'b' } } },
  'old spellings that ask for keys': { slurmKeyRef: {}, jwtHs256KeyRef: {} },
  'old spellings that name keys': {
    slurmKeyRef: { name: 'mine', key: 'k' },
    jwtHs256KeyRef: { name: 'mine', key: 'j' },
  },
  'a key set': { jwksKeys: { enabled: true } },
  'everything at once': {
    clusterName: 'big',
    asciiArt: false,
    priorityClass: { enabled: true, create: true, description: 'All of Slurm' },
    configFiles: { 'gres.conf': 'AutoDetect=nvidia\n', 'cgroup.conf': 'CgroupPlugin=disabled' },
    prologScripts: { '10-a.sh': '#!/bin/sh\nexit 0\n' },
    epilogScripts: { '10-a.sh': '#!/bin/sh\nexit 0\n' },
    prologSlurmctldScripts: { a: '#!/bin/sh\n' },
    epilogSlurmctldScripts: { a: '#!/bin/sh\n' },
    prologScriptRefs: [{ name: 'more' }],
    controller: {
      extraConfMap: {
        MaxJobCount: 50000,
        SchedulerParameters: ['a=1', 'b'],
        PreemptMode: 'OFF',
        Licenses: 0,
      },
      reconfigure: { resources: { limits: { memory: '64Mi' } } },
      metadata: { labels: { mine: 'yes' } },
      metrics: { enabled: true, serviceMonitor: { enabled: true, endpoints: [endpoint] } },
      persistence: { storageClassName: '-', resources: { requests: { storage: '10Gi' } } },
      service: { spec: { type: 'NodePort' } },
    },
    accounting: {
      enabled: true,
      extraConfMap: { ArchiveJobs: true },
      podSpec: { tolerations: [{ key: 'b', operator: 'Exists' }] },
      service: { spec: { type: 'NodePort' } },
    },
    restapi: {
      replicas: 3,
      pdb: { enabled: true, maxUnavailable: '34%' },
      networkPolicy: {
        enabled: true,
        allowedNamespaces: { 'slurm-access': 'true' },
        from: [{ ipBlock: { cidr: '10.0.0.0/8' } }],
      },
      ingress: { enabled: true, host: 'slurm.example.com', tlsSecretName: 'tls', className: 'nginx' },
    },
    qos: {
      high: {
        priority: 1000,
        flags: ['DenyOnLimit'],
        preempts: ['low'],
        preemptMode: 'Requeue',
        limits: { perUser: { tres: { 'gres/gpu': 8 } }, perJob: { wall: '24h' } },
        deletionPolicy: 'Delete',
      },
      low: null,
      off: { enabled: false },
    },
    accounts: {
      lab: {
        parent: 'root',
        fairshare: 10,
        qos: ['high', 'low'],
        limits: { group: { tres: { 'gres/gpu': 8 } } },
        members: [
          { user: 'alice', default: true },
          { user: 'bob', fairshare: 'parent' },
        ],
        deletionPolicy: 'Delete',
      },
      plain: null,
      off: { enabled: false },
    },
    loginsets: {
      one: {
        rootSshAuthorizedKeys: 'ssh-ed25519 AAAA a\n',
        extraSshdConfig: 'X11Forwarding no\n',
        strategy: { type: 'Recreate' },
      },
      two: { service: { spec: { type: 'None' } } },
    },
    nodesets: {
      cpu: {
        replicas: 3,
        oversubscribeNode: true,
        pinToNode: true,
        ordinalPadding: 2,
        minReadySeconds: 5,
        revisionHistoryLimit: 4,
        extraConfMap: { Weight: 10, Features: ['a', 'b'] },
        partition: { enabled: true, configMap: { MaxTime: 'UNLIMITED', State: 'UP', Default: false } },
        ssh: { enabled: true, extraSshdConfig: 'X11Forwarding yes\n' },
        volumeClaimTemplates: [
          {
            metadata: { name: 'scratch' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
      },
      gpu: { slurmd: { resources: { limits: gpu } }, scalingMode: 'DaemonSet' },
      off: { enabled: false },
    },
    partitions: {
      all: { enabled: true },
      some: { enabled: true, nodesets: ['cpu', 'gpu'], config: 'MaxTime=60' },
    },
    vendor: { nvidia: { dcgm: { enabled: true } } },
    extraObjects: [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'extra', namespace: '{{ .Release.Namespace }}' },
      },
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "{{ .Release.Name }}-text"\n',
    ],
  },
  'a maintenance window': {
    nodesets: {
      a: {
        updateStrategy: {
          type: 'ScheduledUpdate',
          scheduledUpdate: { startTime: '2030-01-31T22:00:00Z', duration: '2h' },
        },
      },
    },
  },
  'autoscaling with a limit for all node sets': {
    nodesets: { a: { autoscale: { min: 0, max: 40, idleAfter: '5m' } } },
    controller: { maxAwake: 50 },
  },
  'standby controllers': {
    controller: { ha: { enabled: true, backups: 2 }, persistence: { existingClaim: 'shared' } },
  },
  'a priority class of the user': { priorityClass: { enabled: true, create: false, name: 'theirs' } },
  'a volume that ignores fsGroup': {
    controller: { persistence: { existingClaim: 'on-nfs', fixOwnership: true } },
  },
  'no volume': { controller: { persistence: { enabled: false } } },
  'slurmctld elsewhere': {
    controller: { external: true, externalConfig: { host: 'head.example.com', port: 7817 } },
    slurmKey: { secretRef: { name: 'theirs' } },
    jwtKey: { secretRef: { name: 'theirs', key: 'jwt.key' } },
    nodesets: { cloud: { replicas: 2 } },
  },
  'slurmdbd elsewhere': {
    accounting: {
      external: true,
      externalConfig: { host: 'db.example.com', port: 7000 },
    },
  },
  'useResourceLimits, which is so anyway': {
    nodesets: { a: { useResourceLimits: true, slurmd: { resources: { limits: { cpu: 2 } } } } },
  },
};

export const operatorMatrix: Readonly<Record<string, object>> = {
  defaults: {},
  'with the custom resources': { crds: { enabled: true } },
  'some namespaces only': { operator: { namespaces: 'team-a, team-b' }, webhook: { namespaces: 'team-a' } },
  'no webhook': { webhook: { enabled: false } },
  'several replicas with budgets': {
    operator: { replicas: 2, pdb: { enabled: true } },
    webhook: { replicas: 3, pdb: { enabled: true, maxUnavailable: 2 } },
  },
  'everything else': {
    registry: 'registry.example.com',
    imagePullSecrets: ['pull'],
    priorityClassName: 'system-cluster-critical',
    operator: {
      metricsSecure: true,
      tokenExchange: {
        enabled: true,
        port: 19444,
        userPrefix: 'oidc:',
        userSuffix: '@example.org',
        audiences: ['slurm'],
      },
      profile: true,
      slurmRequestTimeout: '11s',
      slurmBackoffInitial: '2s',
      slurmBackoffMax: '3m',
      slurmPollPeriod: '10s',
      accountingWorkers: 2,
      controllerWorkers: 3,
      loginsetWorkers: 4,
      nodesetWorkers: 5,
      restapiWorkers: 6,
      slurmclientWorkers: 7,
      tokenWorkers: 8,
      imagePullPolicy: 'Always',
      logLevel: 'debug',
      healthPort: 18081,
      metricsPort: 18080,
      nodeSelector: { 'kubernetes.io/arch': 'amd64' },
      tolerations: [{ key: 'a', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} },
      ],
      resources: { limits: { memory: '512Mi' } },
      podSecurityContext: { fsGroup: 65532 },
      image: { digest: `sha256:${'0'.repeat(64)}` },
    },
    webhook: {
      podsBinding: true,
      validating: { failurePolicy: 'Fail' },
      serverPort: 19443,
      image: 'images.example/operator:x',
    },
    propagatedNodeConditions: ['GpuUnhealthy', 'KernelDeadlock'],
    extraObjects: ['apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: extra\n'],
  },
  'accounts of the user': {
    operator: { serviceAccount: { create: false, name: 'mine' } },
    webhook: { serviceAccount: { create: false } },
  },
};
