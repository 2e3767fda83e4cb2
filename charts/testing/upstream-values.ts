/**
 * Values as users of SlinkyProject's charts write them (docs, comments and unit tests of its charts 1.0 to 1.3, written down here in
 * our own words), and the parts of objects that they mean. What is not named in `means` may be anything.
 */
import type { Any } from './chart-stage.ts';

export interface ValueExample {
  readonly name: string;
  readonly values: object;
  /** `Kind` or `Kind/name` → a part of that object; `undefined`: there is no such object. */
  readonly means: Readonly<Record<string, Any>>;
}

const quickstart = {
  nodesets: { slinky: {} },
  partitions: { all: { enabled: true, nodesets: ['ALL'], configMap: { State: 'UP', Default: 'YES' } } },
};

export const slurmExamples: readonly ValueExample[] = [
  {
    name: 'the quickstart of the README: one node set and a partition over all of them',
    values: quickstart,
    means: {
      Controller: {
        spec: { extraConf: 'PartitionName=all Nodes=ALL Default=YES MaxTime=UNLIMITED State=UP' },
      },
      'NodeSet/slurm-worker-slinky': { spec: { controllerRef: { name: 'slurm' }, replicas: 1 } },
      RestApi: { spec: { controllerRef: { name: 'slurm' } } },
      LoginSet: undefined,
      Accounting: undefined,
    },
  },
  {
    name: 'a storage class for the state of slurmctld',
    values: { controller: { persistence: { storageClassName: 'fast' } } },
    means: { Controller: { spec: { persistence: { enabled: true, storageClassName: 'fast' } } } },
  },
  {
    name: 'no persistence',
    values: { controller: { persistence: { enabled: false } } },
    means: { Controller: { spec: { persistence: { enabled: false } } } },
  },
  {
    name: 'an existing claim and high availability',
    values: {
      controller: {
        ha: { enabled: true, backups: 2 },
        persistence: { enabled: true, existingClaim: 'shared' },
      },
    },
    means: {
      Controller: { spec: { ha: { enabled: true, backups: 2 }, persistence: { existingClaim: 'shared' } } },
    },
  },
  {
    name: 'accounting with a database of the user',
    values: {
      accounting: {
        enabled: true,
        storageConfig: {
          host: 'mariadb',
          port: 3306,
          database: 'slurm_acct_db',
          username: 'slurm',
          passwordKeyRef: { name: 'mariadb-password', key: 'password' },
        },
      },
    },
    means: {
      Accounting: {
        spec: { storageConfig: { host: 'mariadb', passwordKeyRef: { name: 'mariadb-password' } } },
      },
      Controller: { spec: { accountingRef: { name: 'slurm' } } },
    },
  },
  {
    name: 'metrics with a ServiceMonitor',
    values: { controller: { metrics: { enabled: true, serviceMonitor: { enabled: true } } } },
    means: { Controller: { spec: { metrics: { enabled: true, serviceMonitor: { enabled: true } } } } },
  },
  {
    name: 'a login set with keys of root and an sssd.conf',
    values: {
      loginsets: { slinky: { enabled: true, rootSshAuthorizedKeys: 'ssh-ed25519 AAAA me' } },
      sssd: { conf: '[sssd]\ndomains = LDAP\n' },
    },
    means: {
      LoginSet: {
        spec: {
          rootSshAuthorizedKeys: 'ssh-ed25519 AAAA me\n',
          sssdConfRef: { name: 'slurm-sssd-conf', key: 'sssd.conf' },
        },
      },
      'Secret/slurm-sssd-conf': { stringData: { 'sssd.conf': '[sssd]\ndomains = LDAP\n' } },
    },
  },
  {
    name: 'an sssd.conf of one login set, as 1.0 spelt it',
    values: { loginsets: { slinky: { enabled: true, sssdConf: '[sssd]\ndomains = OLD\n' } } },
    means: {
      LoginSet: { spec: { sssdConfRef: { name: 'slurm-login-slinky-sssd-conf', key: 'sssd.conf' } } },
      'Secret/slurm-login-slinky-sssd-conf': { stringData: { 'sssd.conf': '[sssd]\ndomains = OLD\n' } },
      'Secret/slurm-sssd-conf': undefined,
    },
  },
  {
    name: 'an empty sssd.conf of a login set means the one of the chart',
    values: { loginsets: { slinky: { enabled: true, sssdConf: '' } } },
    means: { LoginSet: { spec: { sssdConfRef: { name: 'slurm-sssd-conf' } } } },
  },
  {
    name: 'taintKubeNodes, which 1.2 dropped',
    values: { nodesets: { a: { taintKubeNodes: false } }, nodesetDefaults: { taintKubeNodes: true } },
    means: { NodeSet: { spec: { replicas: 1 } } },
  },
  {
    name: 'one priority class for all pods, as 1.0 spelt it',
    values: { priorityClassName: 'hpc', nodesets: { a: {} } },
    means: {
      Controller: { spec: { template: { spec: { priorityClassName: 'hpc' } } } },
      NodeSet: { spec: { template: { spec: { priorityClassName: 'hpc' } } } },
    },
  },
  {
    name: 'settings that say nothing are left out: Slurm refuses a key without a value',
    values: {
      controller: { extraConfMap: { DebugFlags: [], SwitchParameters: '', MaxJobCount: 100, Licenses: 0 } },
      nodesets: { a: { extraConfMap: { Gres: [], Features: [''], Weight: 5 } } },
      partitions: { p: { enabled: true, nodesets: ['a'], configMap: { AllowGroups: [], State: 'UP' } } },
    },
    means: {
      Controller: { spec: { extraConf: 'Licenses=0\nMaxJobCount=100\nPartitionName=p Nodes=a State=UP' } },
      NodeSet: { spec: { extraConf: 'Weight=5' } },
    },
  },
  {
    name: 'the text of a setting takes precedence over its map',
    values: {
      controller: { extraConf: 'MaxJobCount=1', extraConfMap: { MaxJobCount: 2 } },
      nodesets: {
        a: {
          extraConf: 'Weight=1',
          extraConfMap: { Weight: 2 },
          partition: { enabled: true, config: 'State=UP', configMap: { State: 'DOWN' } },
        },
      },
      partitions: { p: { enabled: true, nodesets: ['a'], config: 'State=UP', configMap: { State: 'DOWN' } } },
    },
    means: {
      Controller: { spec: { extraConf: 'MaxJobCount=1\nPartitionName=p Nodes=a State=UP' } },
      NodeSet: { spec: { extraConf: 'Weight=1', partition: { config: 'State=UP' } } },
    },
  },
  {
    name: 'labels and annotations of a component are on its object and on its pods',
    values: {
      controller: {
        metadata: { annotations: { 'argocd.argoproj.io/sync-wave': '1' }, labels: { team: 'a' } },
      },
      nodesets: { a: { metadata: { labels: { team: 'b' } } } },
    },
    means: {
      Controller: {
        metadata: {
          labels: { team: 'a', 'app.kubernetes.io/part-of': 'slurm' },
          annotations: { 'argocd.argoproj.io/sync-wave': '1', 'slinky.slurm.net/generate-slurm-key': '{}' },
        },
        spec: { template: { metadata: { labels: { team: 'a' } } } },
      },
      NodeSet: {
        metadata: { labels: { team: 'b' } },
        spec: { template: { metadata: { labels: { team: 'b' } } } },
      },
    },
  },
  {
    name: 'pull secrets of the chart and of a component',
    values: {
      imagePullSecrets: ['all', { name: 'both' }],
      controller: { podSpec: { imagePullSecrets: [{ name: 'both' }, { name: 'own' }] } },
    },
    means: {
      Controller: {
        spec: {
          template: { spec: { imagePullSecrets: [{ name: 'all' }, { name: 'both' }, { name: 'own' }] } },
        },
      },
      RestApi: { spec: { template: { spec: { imagePullSecrets: [{ name: 'all' }, { name: 'both' }] } } } },
    },
  },
  {
    name: 'a number of zero in a pod template is a value',
    values: { nodesets: { a: { podSpec: { terminationGracePeriodSeconds: 0 } } } },
    means: { NodeSet: { spec: { template: { spec: { terminationGracePeriodSeconds: 0 } } } } },
  },
  {
    name: 'room for more nodes',
    values: { controller: { maxNodeCount: 4096 } },
    means: { Controller: { spec: { maxNodeCount: 4096 } } },
  },
  {
    name: 'a hybrid whose slurmdbd runs elsewhere',
    values: { accounting: { enabled: true, external: true, externalConfig: { host: 'dbd', port: 6819 } } },
    means: {
      Accounting: { spec: { external: true, externalConfig: { host: 'dbd', port: 6819 } } },
      Controller: { spec: { accountingRef: { name: 'slurm' } } },
    },
  },
  {
    name: 'a hybrid whose slurmctld runs elsewhere',
    values: {
      controller: { external: true, externalConfig: { host: 'head', port: 6817 } },
      clusterName: 'hpc',
      nodesets: { slinky: { podSpec: { hostNetwork: true } } },
    },
    means: {
      Controller: { spec: { external: true, externalConfig: { host: 'head' }, clusterName: 'hpc' } },
      NodeSet: { spec: { template: { spec: { hostNetwork: true } } } },
    },
  },
  {
    name: 'files for /etc/slurm, and scripts',
    values: {
      configFiles: { 'gres.conf': 'AutoDetect=nvidia\n' },
      prologScripts: { '00-exit.sh': '#!/bin/sh\nexit 0\n' },
    },
    means: {
      'ConfigMap/slurm-config-extra': { data: { 'gres.conf': 'AutoDetect=nvidia\n' } },
      Controller: {
        spec: {
          configFileRefs: [{ name: 'slurm-config-extra' }],
          prologScriptRefs: [{ name: 'slurm-prolog-scripts' }],
        },
      },
    },
  },
  {
    name: 'a DaemonSet of workers with ssh',
    values: { nodesets: { a: { scalingMode: 'DaemonSet', ssh: { enabled: true } } } },
    means: {
      NodeSet: {
        spec: { scalingMode: 'DaemonSet', ssh: { enabled: true, sssdConfRef: { name: 'slurm-sssd-conf' } } },
      },
    },
  },
  {
    name: 'keys of the user',
    values: {
      slurmKey: { create: false, secretRef: { name: 'mine', key: 'slurm.key' } },
      jwtKey: { create: false, secretRef: { name: 'mine', key: 'jwt.key' } },
    },
    means: {
      Controller: { spec: { slurmKeyRef: { name: 'mine' }, jwtKeyRef: { name: 'mine', key: 'jwt.key' } } },
      Secret: undefined,
    },
  },
  {
    name: 'slurm-bridge may have tokens of slurm',
    values: { jwtKey: { annotations: { 'slinky.slurm.net/token-users': 'slurm' } } },
    means: {
      Controller: {
        metadata: {
          annotations: { 'slinky.slurm.net/generate-jwt-key': '{"slinky.slurm.net/token-users":"slurm"}' },
        },
      },
    },
  },
];

export const operatorExamples: readonly ValueExample[] = [
  {
    name: 'a number as log level, ports as text',
    values: {
      operator: { logLevel: 4, healthPort: '8081', metricsPort: '0' },
      webhook: { logLevel: 1, healthPort: '8082', serverPort: '9444' },
    },
    means: {
      'Deployment/slurm-operator': {
        spec: { template: { spec: { containers: [{ ports: [{ name: 'health', containerPort: 8081 }] }] } } },
      },
      'Service/slurm-operator': { spec: { ports: [{ name: 'health', port: 8081 }] } },
    },
  },
  {
    name: 'some namespaces only',
    values: { operator: { namespaces: 'team-a,team-b' } },
    means: {
      'Deployment/slurm-operator': { spec: { template: { spec: { containers: [{ name: 'manager' }] } } } },
    },
  },
];

/** Values that upstream's charts take and ours refuse, with the reason. */
export const refusals: readonly { chart: 'slurm' | 'slurm-operator'; values: object; why: string; says: RegExp }[] = [
  { chart: 'slurm', values: { jwtKeyRef: { name: 'a', key: 'k' } }, why: 'ignored upstream: the value is jwtKey.secretRef', says: /jwtKeyRef/ },
  { chart: 'slurm', values: { nodesets: { a: { image: 'x' } } }, why: 'ignored upstream: the value is slurmd.image', says: /image/ },
  { chart: 'slurm', values: { nodesets: { a: { resources: {} } } }, why: 'ignored upstream: the value is slurmd.resources', says: /resources/ },
  { chart: 'slurm', values: { nodesets: { a: { affinity: {} } } }, why: 'ignored upstream: the value is podSpec.affinity', says: /affinity/ },
  { chart: 'slurm', values: { loginsets: { a: { securityContext: {} } } }, why: 'ignored upstream: the value is login.securityContext', says: /securityContext/ },
  { chart: 'slurm', values: { nodesets: [{ name: 'a' }] }, why: 'lists are the form before 1.0', says: /nodesets/ },
  { chart: 'slurm', values: { vendor: { google: { a3mega: [{}] } } }, why: 'never tried on such machines', says: /vendor\.google/ },
  { chart: 'slurm', values: { vendor: { google: { a3ultra: [{}] } } }, why: 'never tried on such machines', says: /vendor\.google/ },
  { chart: 'slurm-operator', values: { operator: { metricsPort: '8O80' } }, why: 'not a port, upstream refuses it as well', says: /metricsPort/ },
  { chart: 'slurm-operator', values: { operator: { metricsPort: '08080' } }, why: 'not a port, upstream refuses it as well', says: /metricsPort/ },
  { chart: 'slurm-operator', values: { operator: { metricsPort: 70000 } }, why: 'not a port, upstream refuses it as well', says: /metricsPort/ },
  { chart: 'slurm-operator', values: { operator: { metricsPort: true } }, why: 'not a port, upstream refuses it as well', says: /metricsPort/ },
  { chart: 'slurm-operator', values: { operator: { metricsPort: '' } }, why: 'not a port, upstream refuses it as well', says: /metricsPort/ },
  { chart: 'slurm-operator', values: { operator: { image: '' } }, why: 'upstream refuses it as well', says: /operator.*image/ },
  { chart: 'slurm-operator', values: { webhook: { image: { repository: '' } } }, why: 'upstream refuses it as well', says: /webhook.*image/ },
  { chart: 'slurm', values: { controller: { slurmctld: { image: '' } } }, why: 'upstream refuses it as well', says: /controller.*slurmctld.*image/ },
  { chart: 'slurm', values: { controller: { slurmctld: { image: { repository: '' } } } }, why: 'upstream refuses it as well', says: /controller.*slurmctld.*image/ },
  { chart: 'slurm', values: { controller: { slurmctld: { image: { repository: 'a', tag: '' } } } }, why: 'upstream refuses it as well', says: /controller.*slurmctld.*image/ },
  { chart: 'slurm-operator', values: { operator: { metricsPort: '0', metricsSecure: true } }, why: 'upstream refuses it as well', says: /metricsSecure/ },
  { chart: 'slurm-operator', values: { webhook: { validating: { matchConditions: { name: 'a', expression: 'b' } } } }, why: 'Kubernetes wants a list', says: /matchConditions/ },
]; // biome-ignore format: one row each
