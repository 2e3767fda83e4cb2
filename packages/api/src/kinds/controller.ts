/** Controller: slurmctld and the configuration of the cluster. */
import {
  choice,
  flag,
  integer,
  list,
  nullableList,
  nullableMap,
  nullableObject,
  object,
  optional,
  type Rule,
  text,
} from '../schema/fields.ts';
import { ageColumn, defineKind, readyColumns, reasonColumn, type StoredObject } from '../schema/kind.ts';
import {
  internalOrExternal,
  jwksKeyRef,
  jwtKeyIsFixedUnlessExternal,
  jwtKeyRefs,
  slurmKeyRef,
} from '../shared/keys.ts';
import { persistence } from '../shared/persistence.ts';
import { externalConfig, localReference, named } from '../shared/references.ts';
import { commonStatus, count } from '../shared/status.ts';
import { container, podTemplate, service } from '../shared/templates.ts';
import { nameRules } from '../shared/text-rules.ts';
import { port } from '../well-known.ts';

const fileRefs = (field: string, description: string) =>
  optional(
    nullableList(localReference('One ConfigMap.', 'ConfigMap', [named(`${field}[]`, 'ConfigMap')]), {
      description,
      merge: 'atomic',
      maxItems: 64,
    }),
  );

const prometheusDuration =
  '^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$';

const scrape = {
  interval: optional(text({ description: 'Scrape interval, such as 30s.', pattern: prometheusDuration })),
  scrapeTimeout: optional(text({ description: 'Scrape timeout, such as 10s.', pattern: prometheusDuration })),
};

const serviceMonitor = nullableObject(
  {
    enabled: flag({ description: 'Creates a ServiceMonitor.', default: false }),
    labels: optional(
      nullableMap(text({ description: 'Value of the label.' }), {
        description: 'Labels of the ServiceMonitor, by which Prometheus selects it.',
      }),
    ),
    annotations: optional(
      nullableMap(text({ description: 'Value of the annotation.' }), {
        description: 'Annotations of the ServiceMonitor.',
      }),
    ),
    ...scrape,
    endpoints: optional(
      nullableList(
        object(
          {
            path: text({ description: 'HTTP path to scrape, such as /metrics/jobs.', maxLength: 1024 }),
            ...scrape,
          },
          { description: 'One path to scrape.' },
        ),
        {
          description:
            'Paths to scrape. Defaults to /metrics/jobs, /metrics/nodes, /metrics/partitions and /metrics/scheduler.',
          merge: 'atomic',
          maxItems: 32,
        },
      ),
    ),
  },
  { description: 'The ServiceMonitor. Requires the Prometheus operator.' },
);

const clusterNameRule: Rule = {
  rule: "self.matches('^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$')",
  message:
    'clusterName must have 1 to 40 characters, begin with a letter or digit and contain only letters, digits, dashes and underscores, because it names database tables and a directory',
};

const specRules: readonly Rule[] = [
  ...internalOrExternal,
  {
    rule: "has(self.ha) && self.ha.enabled ? self.persistence.enabled && has(self.persistence.existingClaim) && self.persistence.existingClaim != '' : true",
    message:
      'ha.enabled needs persistence.enabled and persistence.existingClaim: name a PersistentVolumeClaim with the access mode ReadWriteMany, which all slurmctld pods share',
  },
  {
    // No state exists here for a slurmctld that runs elsewhere, and upstream's chart leaves the name out there.
    rule: 'self.external && oldSelf.external || has(self.clusterName) == has(oldSelf.clusterName) && (!has(self.clusterName) || self.clusterName == oldSelf.clusterName)',
    message:
      'clusterName cannot change after creation: Slurm refuses to start on the state of a cluster of another name',
    fieldPath: '.clusterName',
  },
  {
    rule: '!has(oldSelf.slurmKeyRef) || (has(self.slurmKeyRef) && self.slurmKeyRef.name == oldSelf.slurmKeyRef.name)',
    message:
      'slurmKeyRef.name cannot change after creation: change the content of the Secret it names instead',
    fieldPath: '.slurmKeyRef',
  },
  jwtKeyIsFixedUnlessExternal,
  {
    rule: 'self.persistence.enabled == oldSelf.persistence.enabled',
    message:
      'persistence.enabled cannot change after creation: the saved jobs would be lost. Create a new Controller instead',
    fieldPath: '.persistence.enabled',
  },
  {
    rule: "!self.persistence.enabled || (has(self.persistence.existingClaim) ? self.persistence.existingClaim : '') == (has(oldSelf.persistence.existingClaim) ? oldSelf.persistence.existingClaim : '')",
    message:
      'persistence.existingClaim cannot change while persistence is enabled: the saved jobs would be lost. Create a new Controller instead',
    fieldPath: '.persistence.existingClaim',
  },
];

const spec = object(
  {
    clusterName: optional(
      text({
        description:
          'ClusterName of Slurm: the name of the cluster in accounting and of its state directory. Defaults to <namespace>_<name>. Immutable.',
        maxLength: 255,
        rules: [clusterNameRule],
      }),
    ),
    slurmKeyRef,
    ...jwtKeyRefs,
    jwksKeyRef,
    accountingRef: optional(
      localReference(
        'The Accounting that stores the records of this cluster. If absent, there is no accounting.',
        'Accounting',
      ),
    ),
    external: flag({
      description:
        'slurmctld runs elsewhere, at the address in externalConfig. The operator then starts no slurmctld; workers and login nodes join that cluster.',
      default: false,
    }),
    externalConfig: externalConfig('slurmctld'),
    ha: optional(
      object(
        {
          enabled: flag({
            description: 'Runs standby controllers in addition to the active one.',
            default: false,
          }),
          backups: integer({
            description: 'Number of standby controllers.',
            default: 1,
            minimum: 1,
            maximum: 9,
            format: 'int32',
          }),
        },
        { description: 'High availability: standby controllers on a shared state volume.' },
      ),
    ),
    slurmctld: container('Overrides of the slurmctld container: image, resources, arguments, environment.'),
    inplaceReconfigure: flag({
      description:
        'Accepted for compatibility. With either value a configuration change is applied to the running slurmctld, and the pod restarts only for settings that Slurm cannot reload.',
      default: false,
    }),
    reconfigure: container('Overrides of the sidecar that applies new configuration.'),
    logfile: container('Overrides of the sidecar that prints the log, if one is used.'),
    template: podTemplate(),
    extraConf: optional(
      text({
        description:
          'Lines added to slurm.conf. A key that is set here takes precedence over the generated one.',
        maxLength: 262_144,
      }),
    ),
    configFileRefs: fileRefs(
      'configFileRefs',
      'ConfigMaps whose keys become files in /etc/slurm, such as gres.conf or topology.yaml. slurm.conf and slurmdbd.conf are reserved for the operator.',
    ),
    prologScriptRefs: fileRefs(
      'prologScriptRefs',
      'ConfigMaps whose keys are Prolog scripts, run on workers before a job.',
    ),
    epilogScriptRefs: fileRefs(
      'epilogScriptRefs',
      'ConfigMaps whose keys are Epilog scripts, run on workers after a job.',
    ),
    prologSlurmctldScriptRefs: fileRefs(
      'prologSlurmctldScriptRefs',
      'ConfigMaps whose keys are PrologSlurmctld scripts, run in the slurmctld pod before a job.',
    ),
    epilogSlurmctldScriptRefs: fileRefs(
      'epilogSlurmctldScriptRefs',
      'ConfigMaps whose keys are EpilogSlurmctld scripts, run in the slurmctld pod after a job.',
    ),
    persistence,
    service: service('slurmctld', port.slurmctld),
    metrics: object(
      {
        enabled: flag({
          description: 'slurmctld serves metrics in the OpenMetrics format.',
          default: false,
        }),
        serviceMonitor: optional(serviceMonitor),
      },
      { description: 'Metrics of slurmctld.', default: {} },
    ),
    maxAwake: optional(
      integer({
        description:
          'Maximum number of Slurm nodes that are awake, over all NodeSets, with or without autoscale. Slurm enforces it: jobs that would wake more wait with the reason MaxPoweredUpNodes. Needs a NodeSet with autoscale.',
        minimum: 1,
        maximum: 65_533,
        format: 'int32',
      }),
    ),
    maxNodeCount: optional(
      integer({
        description:
          'MaxNodeCount of Slurm: the maximum number of workers that can register. If absent, it is derived from the NodeSets, with a reserve.',
        minimum: 1,
        maximum: 65_533,
        format: 'int32',
      }),
    ),
  },
  { description: 'Desired state of the cluster.', rules: specRules },
);

const heldConfig = object(
  {
    since: optional(text({ description: 'Time since which it is held back.', format: 'date-time' })),
    token: optional(
      text({
        description:
          'Value of the annotation slinky.slurm.net/force-config that applies this configuration at once, at the cost of the jobs.',
      }),
    ),
    items: optional(
      list(
        object(
          {
            kind: optional(
              choice(['Partition', 'NodeSet', 'Node', 'Setting', 'Configuration', 'Restart'], {
                description:
                  'What is held back. Configuration means all of it, Restart a restart of slurmctld.',
              }),
            ),
            name: optional(text({ description: 'Its name in slurm.conf.' })),
            cause: optional(
              choice(['jobs', 'unknown', 'closing', 'workers', 'nodes', 'referenced'], {
                description:
                  'Why: jobs need it, Slurm does not respond, it is being closed to new jobs, workers or nodes still exist, or another line refers to it.',
              }),
            ),
            nodeSet: optional(text({ description: 'The NodeSet that it belongs to.' })),
            runningJobs: count('Number of running or suspended jobs that need it.'),
            pendingJobs: count('Number of pending jobs that need it.'),
            message: optional(text({ description: 'What is held back, why, and what to do.' })),
          },
          { description: 'One part of slurm.conf that is held back.' },
        ),
        { description: 'What is held back.', merge: 'atomic', maxItems: 64 },
      ),
    ),
  },
  {
    description:
      'The part of the new slurm.conf, or the restart of slurmctld, that is held back so that no job is lost. Absent if nothing is held back.',
  },
);

const status = object(
  {
    ...commonStatus,
    clusterName: optional(text({ description: 'ClusterName in use.' })),
    slurmVersion: optional(text({ description: 'Version that slurmctld reports.' })),
    replicas: count('Desired number of slurmctld pods.'),
    readyReplicas: count('Number of slurmctld pods that run and respond, including standbys.'),
    activeController: optional(text({ description: 'Pod with the active slurmctld.' })),
    configHash: optional(text({ description: 'Hash of the configuration that slurmctld uses.' })),
    slurmctldPort: optional(
      integer({
        description:
          'Port of slurmctld in the slurm.conf in force, which Services, pods and workers use. It follows spec.service.port when no job would be lost.',
        minimum: 1,
        maximum: 65_535,
        format: 'int32',
      }),
    ),
    heldConfig: optional(heldConfig),
  },
  { description: 'Most recently observed state.' },
);

export const controllerKind = defineKind({
  kind: 'Controller',
  plural: 'controllers',
  singular: 'controller',
  shortNames: ['slurmctld'],
  description: 'A Slurm cluster: slurmctld, its state, its configuration and the Services in front of it.',
  spec,
  status,
  scalable: false,
  columns: [
    ...readyColumns,
    {
      name: 'CLUSTER',
      type: 'string',
      jsonPath: '.status.clusterName',
      description: 'ClusterName of Slurm.',
      priority: 1,
    },
    {
      name: 'SLURM',
      type: 'string',
      jsonPath: '.status.slurmVersion',
      description: 'Version of slurmctld.',
    },
    reasonColumn,
    ageColumn,
  ],
  rules: [
    ...nameRules('Controller', 41, 'Kubernetes adds "-controller" and a revision to it in a label'),
    {
      rule: 'has(self.spec.clusterName) || self.metadata.name.size() <= 38',
      message:
        'without spec.clusterName the cluster is called <namespace>_<name>, which may have at most 40 characters: set spec.clusterName or choose a shorter name',
    },
  ],
});

export type Controller = StoredObject<typeof controllerKind>;
