/** LoginSet: login nodes, where users prepare and submit their jobs. */
import { integer, intOrString, object, optional, text } from '../schema/fields.ts';
import { ageColumn, defineKind, readyColumns, reasonColumn, type StoredObject } from '../schema/kind.ts';
import { localReference, named, secretKey } from '../shared/references.ts';
import { commonStatus, count } from '../shared/status.ts';
import { container, podTemplate, service } from '../shared/templates.ts';
import { nameRules } from '../shared/text-rules.ts';
import { port } from '../well-known.ts';

const spec = object(
  {
    controllerRef: localReference(
      'The Controller whose cluster users log in to. It cannot change.',
      'Controller',
      [named('controllerRef', 'Controller')],
    ),
    replicas: integer({ description: 'How many login pods.', default: 1, minimum: 0, format: 'int32' }),
    login: container('Changes to the login container: image, resources, volumes, environment.'),
    initconf: container('Changes to the init container that prepares /etc/slurm.'),
    template: podTemplate(),
    rootSshAuthorizedKeys: optional(
      text({ description: 'Public keys that may log in as root, one per line.', maxLength: 262_144 }),
    ),
    extraSshdConfig: optional(text({ description: 'Lines added to sshd_config.', maxLength: 65_536 })),
    sssdConfRef: secretKey('Secret with sssd.conf, by which the login nodes know the users.', [
      named('sssdConfRef', 'Secret with sssd.conf'),
    ]),
    strategy: optional(
      object(
        {
          type: optional(text({ description: 'RollingUpdate or Recreate.' })),
          rollingUpdate: optional(
            object(
              {
                maxSurge: optional(
                  intOrString({ description: 'How many pods more than wanted, as number or percentage.' }),
                ),
                maxUnavailable: optional(
                  intOrString({ description: 'How many pods fewer than wanted, as number or percentage.' }),
                ),
              },
              { description: 'How RollingUpdate goes about it.' },
            ),
          ),
        },
        { description: 'How the Deployment replaces pods.' },
      ),
    ),
    service: service('the login nodes', port.ssh),
  },
  {
    description: 'The login nodes that are wanted.',
    rules: [
      {
        rule: 'self.controllerRef.name == oldSelf.controllerRef.name',
        message: 'controllerRef cannot change after creation: create a new LoginSet for the other Controller',
        fieldPath: '.controllerRef',
      },
    ],
  },
);

const status = object(
  {
    ...commonStatus,
    replicas: count('How many login pods there are.'),
    readyReplicas: count('How many login pods are ready.'),
    selector: text({ description: 'Label selector of the login pods, for autoscalers.', default: '' }),
  },
  { description: 'What was seen last.' },
);

export const loginSetKind = defineKind({
  kind: 'LoginSet',
  plural: 'loginsets',
  singular: 'loginset',
  shortNames: ['loginsets', 'lss', 'sackd'],
  description: 'Login nodes: pods with sshd, the Slurm commands and the users of a directory.',
  spec,
  status,
  scalable: true,
  columns: [
    {
      name: 'REPLICAS',
      type: 'integer',
      jsonPath: '.status.replicas',
      description: 'Login pods that are there.',
    },
    ...readyColumns,
    reasonColumn,
    ageColumn,
  ],
  rules: nameRules('LoginSet', 63, 'it is the name of a Service'),
});

export type LoginSet = StoredObject<typeof loginSetKind>;
