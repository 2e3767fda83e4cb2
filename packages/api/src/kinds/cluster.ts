/** Cluster: a connection to a Slurm REST service, and the health of everything behind it. */
import { flag, object, optional, type Rule, text } from '../schema/fields.ts';
import { ageColumn, type Column, defineKind, reasonColumn, type StoredObject } from '../schema/kind.ts';
import { configMapKey, localReference, named } from '../shared/references.ts';
import { commonStatus, count } from '../shared/status.ts';
import { tokenSecretKey } from '../well-known.ts';

const tokenSecret = (field: string, description: string) =>
  object(
    {
      name: text({ description: 'Name of the Secret.', default: '', maxLength: 253 }),
      key: text({ description: 'Key inside the Secret.', default: tokenSecretKey, maxLength: 253 }),
    },
    { description, atomic: true, rules: [named(field, 'Secret with the token')] },
  );

const specRules: readonly Rule[] = [
  {
    rule: 'has(self.server) != has(self.controllerRef)',
    message:
      'set either server, for a Slurm that runs elsewhere, or controllerRef, for one that a Controller of this namespace runs',
  },
  {
    rule: '!has(self.server) || has(self.tokenSecretRef) || (has(self.token) && has(self.token.secretRef))',
    message: 'tokenSecretRef must be set together with server: name the Secret that contains a token for it',
    reason: 'FieldValueRequired',
  },
  {
    rule: '!(has(self.tokenSecretRef) && has(self.token))',
    message: 'token.secretRef is deprecated in favour of tokenSecretRef: set only one of them',
  },
];

const spec = object(
  {
    server: optional(
      text({
        description: 'URL of slurmrestd, such as https://slurm.example.com:6820.',
        maxLength: 2048,
        rules: [
          {
            rule: "self.matches('^https?://[A-Za-z0-9\\\\[]([A-Za-z0-9._:\\\\[\\\\]-]*)(/[A-Za-z0-9._~/-]*)?$')",
            message:
              'server must be an http or https URL without user, query or fragment, such as https://slurm.example.com:6820',
          },
        ],
      }),
    ),
    controllerRef: optional(
      localReference(
        'The Controller in this namespace that runs the Slurm cluster. The operator creates such a Cluster for every Controller.',
        'Controller',
        [named('controllerRef', 'Controller')],
      ),
    ),
    tokenSecretRef: optional(
      tokenSecret(
        'tokenSecretRef',
        'Secret with a JSON Web Token for the server. It is reloaded whenever it changes.',
      ),
    ),
    token: optional(
      object(
        {
          secretRef: optional(tokenSecret('token.secretRef', 'Secret with a JSON Web Token for the server.')),
        },
        { description: 'Deprecated: use tokenSecretRef.' },
      ),
    ),
    caConfigMapRef: optional(
      configMapKey(
        'ConfigMap with the PEM certificates of the authority that signed the certificate of the server. Defaults to the authorities of the system.',
        [named('caConfigMapRef', 'ConfigMap with the certificates')],
      ),
    ),
    username: optional(
      text({
        description: 'Slurm user to act as, for tokens that do not contain a user.',
        maxLength: 64,
        rules: [
          {
            rule: "self.matches('^[A-Za-z0-9_][A-Za-z0-9_.@-]*$')",
            message: 'username must be a user name of letters, digits and . _ @ -, such as slurm',
          },
        ],
      }),
    ),
  },
  { description: 'Desired connection.', rules: specRules },
);

const status = object(
  {
    isReady: flag({ description: 'Whether Slurm responds through this connection.', default: false }),
    ...commonStatus,
    server: optional(text({ description: 'URL in use.' })),
    slurmVersion: optional(text({ description: 'Version that Slurm reports.' })),
    apiVersion: optional(text({ description: 'Version of the REST API in use, such as v0.0.44.' })),
    nodes: optional(
      object(
        {
          total: count('All nodes.'),
          idle: count('Idle nodes.'),
          allocated: count('Nodes with jobs.'),
          down: count('Nodes that are down.'),
          drained: count('Nodes that are drained or draining.'),
        },
        { description: 'The nodes of the cluster.' },
      ),
    ),
    jobs: optional(
      object(
        { running: count('Running jobs.'), pending: count('Pending jobs.') },
        { description: 'The jobs of the cluster.' },
      ),
    ),
  },
  { description: 'Most recently observed state.' },
);

const number = (name: string, path: string, description: string, priority: 0 | 1 = 0): Column => ({
  name,
  type: 'integer',
  jsonPath: `.status.${path}`,
  description,
  priority,
});

export const clusterKind = defineKind({
  kind: 'Cluster',
  plural: 'clusters',
  singular: 'cluster',
  shortNames: ['slurmcluster'],
  description: 'A connection to a Slurm cluster and the aggregated health of its objects. Check it first.',
  spec,
  status,
  scalable: false,
  columns: [
    { name: 'READY', type: 'boolean', jsonPath: '.status.isReady', description: 'Whether Slurm responds.' },
    { name: 'SLURM', type: 'string', jsonPath: '.status.slurmVersion', description: 'Version of Slurm.' },
    number('NODES', 'nodes.total', 'Nodes of the cluster.'),
    number('IDLE', 'nodes.idle', 'Idle nodes.'),
    number('ALLOC', 'nodes.allocated', 'Nodes with jobs.'),
    number('DOWN', 'nodes.down', 'Nodes that are down.'),
    number('DRAIN', 'nodes.drained', 'Nodes that are drained or draining.', 1),
    number('JOBS', 'jobs.running', 'Running jobs.'),
    number('PENDING', 'jobs.pending', 'Pending jobs.', 1),
    reasonColumn,
    ageColumn,
  ],
  rules: [],
});

export type Cluster = StoredObject<typeof clusterKind>;
