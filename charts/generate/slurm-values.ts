/** The values of the chart slurm. What ends up in a custom resource unchanged has the schema that it has there. */
import {
  close,
  closed,
  flag,
  list,
  mapOf,
  nameOf,
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
export type Kinds = Readonly<
  Record<'Controller' | 'NodeSet' | 'Accounting' | 'LoginSet' | 'QualityOfService' | 'Account', Schema>
>;

const keyRef = (what: string, kind: 'Secret' | 'ConfigMap') =>
  closed(`${kind} and key of ${what}.`, { name: nameOf(`Name of the ${kind}.`), key: nameOf('Key in it.') });

const key = (what: string) =>
  closed(`The ${what}.`, {
    create: flag('The operator creates it, if the Secret does not exist.'),
    annotations: mapOf('Annotations of the created Secret.', text('Value of the annotation.')),
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
    port: port('Port. Empty: the default port.'),
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
      'autoscale',
      'volumeClaimTemplates',
      'persistentVolumeClaimRetentionPolicy',
      'extraConf',
    ),
    slurmd: container('slurmd'),
    logfile: container('the log'),
    extraConfMap: settings('the Slurm nodes'),
    partition: closed('A partition that contains exactly these workers.', {
      enabled: flag('Whether there is one.'),
      config: text('Its parameters, as in slurm.conf.', { maxLength: 4096 }),
      configMap: settings('the partition'),
    }),
    ssh: closed('Login to workers, for users who have a job there.', {
      enabled: flag('Whether sshd runs.'),
      extraSshdConfig: text('Lines added to sshd_config.'),
    }),
    updateStrategy: closed('Update strategy of the workers.', {
      ...take(NodeSet.properties?.['updateStrategy'] ?? {}, 'type', 'scheduledUpdate'),
      rollingUpdate: closed('RollingUpdate parameters.', {
        ...take(
          NodeSet.properties?.['updateStrategy']?.properties?.['rollingUpdate'] ?? {},
          'partition',
          'paused',
        ),
        maxUnavailable: numberOrPercentage('Maximum number of unavailable workers.'),
      }),
    }),
    metadata: metadata('the pods'),
    podSpec,
    taintKubeNodes: flag('Deprecated, without effect: use taints of your own and podSpec.tolerations.'),
    useResourceLimits: flag('Deprecated; workers always offer Slurm what their limits allow.'),
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
    sssdConf: text('Deprecated: use sssd.conf. Content of sssd.conf of this login set.'),
  });
}

function controller({ Controller }: Kinds): Schema {
  const { persistence = {} } = take(Controller, 'persistence');
  return closed('slurmctld and the configuration of the cluster.', {
    ...take(
      Controller,
      'external',
      'inplaceReconfigure',
      'ha',
      'maxAwake',
      'maxNodeCount',
      'extraConf',
      'metrics',
    ),
    persistence: {
      ...persistence,
      properties: { ...persistence.properties, existingClaim: nameOf('A claim that exists already.') },
    },
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
  networkPolicy: closed('Restricts access to slurmrestd. The operator always has access.', {
    enabled: flag('Create the NetworkPolicy.'),
    allowedNamespaces: mapOf('Labels of namespaces whose pods have access.', text('Value of the label.')),
    from: list('Additional peers.', { items: { type: 'object' } }),
    operatorNamespace: text('Namespace of the operator.', { minLength: 1 }),
  }),
  ingress: closed('Exposes the REST API under a host name.', {
    enabled: flag('Create the Ingress.'),
    className: text('Class of the Ingress.'),
    annotations: mapOf('Annotations of the Ingress.', text('Value of the annotation.')),
    host: text('Host name.'),
    path: text('Path.', { pattern: '^/' }),
    tlsSecretName: text('Secret with the certificate.'),
  }),
});

function accounting({ Accounting }: Kinds): Schema {
  return closed('slurmdbd.', {
    enabled: flag('Enable accounting.'),
    ...take(Accounting, 'external', 'storageConfig', 'extraConf'),
    externalConfig: elsewhere('slurmdbd'),
    slurmdbd: container('slurmdbd'),
    extraConfMap: settings('slurmdbd.conf'),
    metadata: metadata('the pods'),
    podSpec,
    service: service('slurmdbd'),
  });
}

/** Every field but those that the chart sets. */
function qos({ QualityOfService }: Kinds): Schema {
  const { accountingRef: _, name: __, ...fields } = QualityOfService.properties ?? {};
  return closed('A quality of service.', {
    enabled: flag('Whether the object exists.'),
    ...take(QualityOfService, ...Object.keys(fields)),
  });
}

function account({ Account }: Kinds): Schema {
  const { accountingRef: _, name: __, ...fields } = Account.properties ?? {};
  return closed('An account.', {
    enabled: flag('Whether the object exists.'),
    ...take(Account, ...Object.keys(fields)),
  });
}

export function slurmValues(kinds: Kinds): Schema {
  return closed('Values of the chart slurm.', {
    ...helmsOwn,
    nameOverride: nameOf('Prefix of object names.'),
    fullnameOverride: nameOf('The same, without the name of the release.'),
    namespaceOverride: nameOf('The namespace of the objects.'),
    asciiArt: flag('Print a banner after the installation.'),
    registry,
    imagePullSecrets: pullSecrets,
    imagePullPolicy: pullPolicy,
    priorityClass: closed('The priority of all pods.', {
      enabled: flag('Set it on all pods.'),
      create: flag('Create it.'),
      name: nameOf('Name of the class.'),
      description: text('Its description.'),
      value: whole('Its value.', { minimum: -2_147_483_648, maximum: 1_000_000_000 }),
      preemptionPolicy: oneOf('Whether these pods preempt others.', ['PreemptLowerPriority', 'Never']),
    }),
    priorityClassName: nameOf('Deprecated: use priorityClass. Priority class of all pods.'),
    slurmKey: key('key with which all daemons authenticate'),
    jwtKey: key('key that signs JSON Web Tokens'),
    slurmKeyRef: keyRef('the Slurm key; deprecated: use slurmKey.secretRef. {} requests a new key', 'Secret'),
    jwtHs256KeyRef: keyRef('the JWT key; deprecated: use jwtKey.secretRef. {} requests a new key', 'Secret'),
    jwksKeys: closed('A JSON Web Key Set.', {
      enabled: flag('Use it.'),
      configMapRef: keyRef('the key set', 'ConfigMap'),
    }),
    clusterName: { ...take(kinds.Controller, 'clusterName')['clusterName'], pattern: '^[-_A-Za-z0-9]*$' },
    configFiles: files('Files for /etc/slurm'),
    ...scripts,
    controller: controller(kinds),
    restapi: restApi,
    accounting: accounting(kinds),
    sssd: closed('User directory of login nodes.', {
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
    qos: mapOf('Qualities of service by name.', qos(kinds), { propertyNames: setName }),
    accounts: mapOf('Accounts by name.', account(kinds), { propertyNames: setName }),
    vendor: closed('Vendor-specific settings.', {
      nvidia: closed('NVIDIA.', {
        dcgm: closed('The DCGM exporter.', {
          enabled: flag('Report jobs to it.'),
          jobMappingDir: text('Directory on the node.', { pattern: '^/[-A-Za-z0-9_./]*$' }),
          scriptPriority: { description: 'Order of the scripts.', type: ['string', 'integer', 'null'] },
        }),
      }),
      google: closed('Not supported.', { a3mega: list('Not supported.'), a3ultra: list('Not supported.') }),
    }),
    extraObjects,
  });
}
