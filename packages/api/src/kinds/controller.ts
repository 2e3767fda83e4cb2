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
import { externalConfig } from '../shared/external.ts';
import {
  internalOrExternal,
  jwksKeyRef,
  jwtKeyIsFixedUnlessExternal,
  jwtKeyRefs,
  slurmKeyRef,
} from '../shared/keys.ts';
import { persistence } from '../shared/persistence.ts';
import { localReference, named } from '../shared/references.ts';
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
  interval: optional(text({ description: 'How often to scrape, such as 30s.', pattern: prometheusDuration })),
  scrapeTimeout: optional(
    text({ description: 'How long a scrape may take, such as 10s.', pattern: prometheusDuration }),
  ),
};

const serviceMonitor = nullableObject(
  {
    enabled: flag({ description: 'Whether to make a ServiceMonitor.', default: false }),
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
            'Paths to scrape. Absent means /metrics/jobs, /metrics/nodes, /metrics/partitions and /metrics/scheduler.',
          merge: 'atomic',
          maxItems: 32,
        },
      ),
    ),
  },
  { description: 'The ServiceMonitor, where the Prometheus operator is installed.' },
);

const clusterNameRule: Rule = {
  rule: "self.matches('^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$')",
  message:
    'clusterName must have 1 to 40 characters, begin with a letter or digit and hold only letters, digits, dashes and underscores, because it names database tables and a directory',
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
          'ClusterName of Slurm: names the cluster in accounting and the directory of its state. Absent means <namespace>_<name>. It cannot change.',
        maxLength: 255,
        rules: [clusterNameRule],
      }),
    ),
    slurmKeyRef,
    ...jwtKeyRefs,
    jwksKeyRef,
    accountingRef: optional(
      localReference(
        'The Accounting that keeps the records of this cluster. Absent means no accounting.',
        'Accounting',
      ),
    ),
    external: flag({
      description:
        'Whether slurmctld runs elsewhere. Then nothing is started here; workers and login nodes join that cluster.',
      default: false,
    }),
    externalConfig: externalConfig('slurmctld'),
    ha: optional(
      object(
        {
          enabled: flag({
            description: 'Whether standby controllers run beside the active one.',
            default: false,
          }),
          backups: integer({
            description: 'How many standby controllers.',
            default: 1,
            minimum: 1,
            maximum: 9,
            format: 'int32',
          }),
        },
        { description: 'High availability: standby controllers on a shared state volume.' },
      ),
    ),
    slurmctld: container('Changes to the container of slurmctld: image, resources, arguments, environment.'),
    inplaceReconfigure: flag({
      description:
        'Accepted for compatibility. With either value a change of configuration is applied to the running slurmctld, and the pod restarts only for keys that Slurm cannot reload.',
      default: false,
    }),
    reconfigure: container('Changes to the side container that applies new configuration.'),
    logfile: container('Changes to the side container that prints the log, where one is used.'),
    template: podTemplate(),
    extraConf: optional(
      text({
        description: 'Lines added to slurm.conf. A key given here wins over the generated one.',
        maxLength: 262_144,
      }),
    ),
    configFileRefs: fileRefs(
      'configFileRefs',
      'ConfigMaps whose keys become files in /etc/slurm, such as gres.conf or topology.yaml. slurm.conf and slurmdbd.conf are ours.',
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
      'ConfigMaps whose keys are PrologSlurmctld scripts, run beside slurmctld before a job.',
    ),
    epilogSlurmctldScriptRefs: fileRefs(
      'epilogSlurmctldScriptRefs',
      'ConfigMaps whose keys are EpilogSlurmctld scripts, run beside slurmctld after a job.',
    ),
    persistence,
    service: service('slurmctld', port.slurmctld),
    metrics: object(
      {
        enabled: flag({
          description: 'Whether slurmctld serves metrics in the OpenMetrics format.',
          default: false,
        }),
        serviceMonitor: optional(serviceMonitor),
      },
      { description: 'Metrics of slurmctld.', default: {} },
    ),
    maxNodeCount: optional(
      integer({
        description:
          'MaxNodeCount of Slurm: how many workers may register. Absent means that it follows the NodeSets, with room to grow.',
        minimum: 1,
        maximum: 65_533,
        format: 'int32',
      }),
    ),
  },
  { description: 'The cluster that is wanted.', rules: specRules },
);

const heldConfig = object(
  {
    since: optional(text({ description: 'When it began to wait.', format: 'date-time' })),
    token: optional(
      text({
        description:
          'Value of the annotation slinky.slurm.net/force-config that puts this configuration in force at once, at the cost of the jobs.',
      }),
    ),
    items: optional(
      list(
        object(
          {
            kind: optional(
              choice(['Partition', 'NodeSet', 'Node', 'Setting', 'Configuration'], {
                description: 'What is held. Configuration means all of it.',
              }),
            ),
            name: optional(text({ description: 'Its name in slurm.conf.' })),
            cause: optional(
              choice(['jobs', 'unknown', 'closing', 'workers', 'nodes', 'referenced'], {
                description:
                  'Why: jobs need it, Slurm does not answer, it is being closed to new jobs, workers or nodes still exist, or another line names it.',
              }),
            ),
            nodeSet: optional(text({ description: 'The NodeSet that it comes from.' })),
            runningJobs: count('How many running or suspended jobs need it.'),
            pendingJobs: count('How many pending jobs need it.'),
            message: optional(text({ description: 'What is held, why, and what to do.' })),
          },
          { description: 'One part of slurm.conf that is held.' },
        ),
        { description: 'What is held.', merge: 'atomic', maxItems: 64 },
      ),
    ),
  },
  {
    description:
      'The part of the new slurm.conf that waits, so that no job is lost. Absent when nothing waits.',
  },
);

const status = object(
  {
    ...commonStatus,
    clusterName: optional(text({ description: 'The ClusterName in use.' })),
    slurmVersion: optional(text({ description: 'The version that slurmctld reports.' })),
    replicas: count('How many slurmctld pods are wanted.'),
    readyReplicas: count('How many slurmctld pods run and answer, standbys included.'),
    activeController: optional(text({ description: 'The pod whose slurmctld is active.' })),
    configHash: optional(text({ description: 'Hash of the configuration that slurmctld runs with.' })),
    heldConfig: optional(heldConfig),
  },
  { description: 'What was seen last.' },
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
