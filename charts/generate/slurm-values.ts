/** The values of the chart slurm. What ends up in a custom resource unchanged has the schema that it has there. */
import {
  close,
  closed,
  flag,
  list,
  mapOf,
  numberOrPercentage,
  oneOf,
  port,
  type Schema,
  text,
  whole,
} from './schema.ts';
import {
  budget,
  container,
  extraObjects,
  helmsOwn,
  metadata,
  podSpec,
  pullPolicy,
  pullSecrets,
  registry,
  replicas,
  service,
} from './shared-values.ts';

/** The specifications of the custom resources. */
export type Kinds = Readonly<Record<'Controller' | 'NodeSet' | 'Accounting' | 'LoginSet', Schema>>;

const keyRef = (what: string, kind: 'Secret' | 'ConfigMap') =>
  closed(`${kind} and key of ${what}.`, { name: text(`Name of the ${kind}.`), key: text('Key in it.') });

const key = (what: string) =>
  closed(`The ${what}.`, {
    create: flag('Whether the operator makes it, if the Secret does not exist.'),
    annotations: mapOf('Annotations of the Secret that is made.', text('Value of the annotation.')),
    secretRef: keyRef(`the ${what}`, 'Secret'),
  });

/** What a map of Slurm settings may hold. */
const setting: Schema = {
  description: 'Value of the setting; a list becomes a,b,c.',
  type: ['string', 'number', 'boolean', 'array', 'null'],
  items: { type: ['string', 'number', 'boolean'] },
};
const settings = (of: string) =>
  mapOf(`The settings of ${of} as a map.`, setting, {
    propertyNames: { pattern: '^[A-Za-z][A-Za-z0-9_]*$' },
  });

const fileName = { pattern: '^[-._A-Za-z0-9]+$', maxLength: 200 };
const files = (what: string) =>
  mapOf(`${what}: name → content.`, text('Content.'), { propertyNames: fileName });
const mapRefs = (what: string) =>
  list(`ConfigMaps whose keys are ${what}.`, {
    items: { ...closed('One ConfigMap.', { name: { type: 'string', minLength: 1 } }), type: 'object' },
  });

const scripts = Object.fromEntries(
  ['prologSlurmctld', 'epilogSlurmctld', 'prolog', 'epilog'].flatMap((kind) => [
    [`${kind}Scripts`, files(`Scripts for ${kind}`)],
    [`${kind}ScriptRefs`, mapRefs(`scripts for ${kind}`)],
  ]),
);

const elsewhere = (daemon: string) =>
  closed(`Where ${daemon} is when external is true.`, {
    host: text('Host name or address.', { maxLength: 253 }),
    port: port('Port; the usual one where empty.'),
  });

/** A name of a set becomes part of host names and of partitions. */
const setName = { pattern: '^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$' };

function take(kind: Schema, ...fields: readonly string[]): Record<string, Schema> {
  return Object.fromEntries(
    fields.map((name) => {
      const found = kind.properties?.[name];
      if (found === undefined) throw new Error(`the custom resource has no field ${name}`);
      return [name, close(found)];
    }),
  );
}

function nodeSet({ NodeSet }: Kinds): Schema {
  return closed('A node set.', {
    enabled: flag('Whether it exists.'),
    ...take(
      NodeSet,
      'scalingMode',
      'replicas',
      'pinToNode',
      'workloadDisruptionProtection',
      'pruneSlurmNodeRecords',
      'ordinalPadding',
      'oversubscribeNode',
      'deletionPolicy',
      'minReadySeconds',
      'revisionHistoryLimit',
      'volumeClaimTemplates',
      'persistentVolumeClaimRetentionPolicy',
      'extraConf',
    ),
    slurmd: container('slurmd'),
    logfile: container('the log'),
    extraConfMap: settings('the Slurm nodes'),
    partition: closed('A partition of exactly these workers.', {
      enabled: flag('Whether there is one.'),
      config: text('Its parameters, as in slurm.conf.', { maxLength: 4096 }),
      configMap: settings('the partition'),
    }),
    ssh: closed('Login to workers, for users who have a job there.', {
      enabled: flag('Whether sshd runs.'),
      extraSshdConfig: text('Lines added to sshd_config.'),
    }),
    updateStrategy: closed('How workers get a new revision.', {
      ...take(NodeSet.properties?.['updateStrategy'] ?? {}, 'type', 'scheduledUpdate'),
      rollingUpdate: closed('How RollingUpdate goes about it.', {
        ...take(
          NodeSet.properties?.['updateStrategy']?.properties?.['rollingUpdate'] ?? {},
          'partition',
          'paused',
        ),
        maxUnavailable: numberOrPercentage('How many workers may be missing at a time.'),
      }),
    }),
    metadata: metadata('the pods'),
    podSpec,
    useResourceLimits: flag('Old; workers always offer Slurm what their limits allow.'),
  });
}

function loginSet({ LoginSet }: Kinds): Schema {
  return closed('A login set.', {
    enabled: flag('Whether it exists.'),
    ...take(LoginSet, 'replicas', 'rootSshAuthorizedKeys', 'extraSshdConfig', 'strategy'),
    login: container('the login node'),
    initconf: container('the preparation'),
    metadata: metadata('the pods'),
    podSpec,
    service: service('the login nodes'),
  });
}

function controller({ Controller }: Kinds): Schema {
  return closed('slurmctld and the configuration of the cluster.', {
    ...take(Controller, 'external', 'inplaceReconfigure', 'ha', 'persistence', 'extraConf', 'metrics'),
    externalConfig: elsewhere('slurmctld'),
    slurmctld: container('slurmctld'),
    reconfigure: container('the reconfiguration'),
    logfile: container('the log'),
    extraConfMap: settings('slurm.conf'),
    metadata: metadata('the pods'),
    podSpec,
    service: service('slurmctld'),
  });
}

const restApi = closed('slurmrestd.', {
  replicas: replicas('slurmrestd'),
  pdb: budget,
  slurmrestd: container('slurmrestd'),
  metadata: metadata('the pods'),
  podSpec,
  service: service('slurmrestd'),
  networkPolicy: closed('Who may reach slurmrestd. The operator always may.', {
    enabled: flag('Whether others are kept away.'),
    allowedNamespaces: mapOf('Labels of namespaces whose pods may.', text('Value of the label.')),
    from: list('Further peers.', { items: { type: 'object' } }),
    operatorNamespace: text('Where the operator runs.', { minLength: 1 }),
  }),
  ingress: closed('The REST service under a host name.', {
    enabled: flag('Whether there is an Ingress.'),
    className: text('Class of the Ingress.'),
    annotations: mapOf('Annotations of the Ingress.', text('Value of the annotation.')),
    host: text('Host name.'),
    path: text('Path.', { pattern: '^/' }),
    tlsSecretName: text('Secret with the certificate.'),
  }),
});

function accounting({ Accounting }: Kinds): Schema {
  return closed('slurmdbd.', {
    enabled: flag('Whether there is accounting.'),
    ...take(Accounting, 'external', 'storageConfig', 'extraConf'),
    externalConfig: elsewhere('slurmdbd'),
    slurmdbd: container('slurmdbd'),
    extraConfMap: settings('slurmdbd.conf'),
    metadata: metadata('the pods'),
    podSpec,
    service: service('slurmdbd'),
  });
}

export function slurmValues(kinds: Kinds): Schema {
  return closed('Values of the chart slurm.', {
    ...helmsOwn,
    nameOverride: text('The name that objects begin with.'),
    fullnameOverride: text('The same, without the name of the release.'),
    namespaceOverride: text('The namespace of the objects.'),
    asciiArt: flag('A greeting after the installation.'),
    registry,
    imagePullSecrets: pullSecrets,
    imagePullPolicy: pullPolicy,
    priorityClass: closed('The priority of all pods.', {
      enabled: flag('Whether pods get it.'),
      create: flag('Whether the chart makes it.'),
      name: text('Name of the class.'),
      description: text('Its description.'),
      value: whole('Its value.', { minimum: -2_147_483_648, maximum: 1_000_000_000 }),
      preemptionPolicy: oneOf('Whether others make way.', ['PreemptLowerPriority', 'Never']),
    }),
    slurmKey: key('key that all daemons sign with'),
    jwtKey: key('key that signs JSON Web Tokens'),
    slurmKeyRef: keyRef(
      'the Slurm key; old spelling of slurmKey.secretRef, and {} asks to make it',
      'Secret',
    ),
    jwtHs256KeyRef: keyRef('the JWT key; old spelling of jwtKey.secretRef, and {} asks to make it', 'Secret'),
    jwksKeys: closed('A JSON Web Key Set.', {
      enabled: flag('Whether it is used.'),
      configMapRef: keyRef('the key set', 'ConfigMap'),
    }),
    ...take(kinds.Controller, 'clusterName'),
    configFiles: files('Files for /etc/slurm'),
    ...scripts,
    controller: controller(kinds),
    restapi: restApi,
    accounting: accounting(kinds),
    sssd: closed('How login nodes know their users.', {
      secretRef: keyRef('sssd.conf', 'Secret'),
      conf: text('Content of sssd.conf.'),
    }),
    loginsetDefaults: loginSet(kinds),
    loginsets: mapOf('Login sets by name.', loginSet(kinds), { propertyNames: setName }),
    nodesetDefaults: nodeSet(kinds),
    nodesets: mapOf('Node sets by name.', nodeSet(kinds), { propertyNames: setName }),
    partitions: mapOf(
      'Partitions by name.',
      closed('A partition.', {
        enabled: flag('Whether it exists.'),
        nodesets: list('Node sets in it, or ALL.', { items: { type: 'string' } }),
        config: text('Its parameters, as in slurm.conf.', { maxLength: 4096 }),
        configMap: settings('the partition'),
      }),
      { propertyNames: { pattern: '^[A-Za-z0-9_][-A-Za-z0-9_.]*$' } },
    ),
    vendor: closed('Settings for hardware of one maker.', {
      nvidia: closed('NVIDIA.', {
        dcgm: closed('The DCGM exporter.', {
          enabled: flag('Whether jobs are made known to it.'),
          jobMappingDir: text('Directory on the node.', { pattern: '^/[-A-Za-z0-9_./]*$' }),
          scriptPriority: { description: 'Order of the scripts.', type: ['string', 'integer', 'null'] },
        }),
      }),
      google: closed('Not supported.', { a3mega: list('Not supported.'), a3ultra: list('Not supported.') }),
    }),
    extraObjects,
  });
}
