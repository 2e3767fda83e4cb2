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
      'set either server, for a Slurm that lives elsewhere, or controllerRef, for one that a Controller of this namespace runs',
  },
  {
    rule: '!has(self.server) || has(self.tokenSecretRef) || (has(self.token) && has(self.token.secretRef))',
    message: 'tokenSecretRef must be set together with server: name the Secret that holds a token for it',
    reason: 'FieldValueRequired',
  },
  {
    rule: '!(has(self.tokenSecretRef) && has(self.token))',
    message: 'token.secretRef is the old spelling of tokenSecretRef: set only one of them',
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
        'The Controller of this namespace whose Slurm is meant. The operator makes such a Cluster for every Controller.',
        'Controller',
        [named('controllerRef', 'Controller')],
      ),
    ),
    tokenSecretRef: optional(
      tokenSecret(
        'tokenSecretRef',
        'Secret with a JSON Web Token for the server. It is read again whenever it changes.',
      ),
    ),
    token: optional(
      object(
        {
          secretRef: optional(tokenSecret('token.secretRef', 'Secret with a JSON Web Token for the server.')),
        },
        { description: 'Old spelling of tokenSecretRef.' },
      ),
    ),
    caConfigMapRef: optional(
      configMapKey(
        'ConfigMap with the PEM certificates that sign the server’s. Absent means those of the system.',
        [named('caConfigMapRef', 'ConfigMap with the certificates')],
      ),
    ),
    username: optional(
      text({
        description: 'Slurm user to act as, for tokens that leave it open.',
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
  { description: 'The connection that is wanted.', rules: specRules },
);

const status = object(
  {
    isReady: flag({ description: 'Whether Slurm answers through this connection.', default: false }),
    ...commonStatus,
    server: optional(text({ description: 'The URL in use.' })),
    slurmVersion: optional(text({ description: 'The version that Slurm reports.' })),
    apiVersion: optional(text({ description: 'The version of the REST interface in use, such as v0.0.44.' })),
    nodes: optional(
      object(
        {
          total: count('All nodes.'),
          idle: count('Nodes without work.'),
          allocated: count('Nodes with work.'),
          down: count('Nodes that are down.'),
          drained: count('Nodes that are drained or draining.'),
        },
        { description: 'The nodes of the cluster.' },
      ),
    ),
    jobs: optional(
      object(
        { running: count('Jobs that run.'), pending: count('Jobs that wait.') },
        { description: 'The jobs of the cluster.' },
      ),
    ),
  },
  { description: 'What was seen last.' },
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
  description:
    'A connection to a Slurm cluster and the health of everything that belongs to it. The first thing to look at.',
  spec,
  status,
  scalable: false,
  columns: [
    { name: 'READY', type: 'boolean', jsonPath: '.status.isReady', description: 'Whether Slurm answers.' },
    { name: 'SLURM', type: 'string', jsonPath: '.status.slurmVersion', description: 'Version of Slurm.' },
    number('NODES', 'nodes.total', 'Nodes of the cluster.'),
    number('IDLE', 'nodes.idle', 'Nodes without work.'),
    number('ALLOC', 'nodes.allocated', 'Nodes with work.'),
    number('DOWN', 'nodes.down', 'Nodes that are down.'),
    number('DRAIN', 'nodes.drained', 'Nodes that are drained or draining.', 1),
    number('JOBS', 'jobs.running', 'Jobs that run.'),
    number('PENDING', 'jobs.pending', 'Jobs that wait.', 1),
    reasonColumn,
    ageColumn,
  ],
  rules: [],
});

export type Cluster = StoredObject<typeof clusterKind>;
