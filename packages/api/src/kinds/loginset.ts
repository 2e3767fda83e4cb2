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
      'The Controller of the cluster that users log in to. Immutable.',
      'Controller',
      [named('controllerRef', 'Controller')],
    ),
    replicas: integer({ description: 'Number of login pods.', default: 1, minimum: 0, format: 'int32' }),
    login: container('Overrides of the login container: image, resources, volumes, environment.'),
    initconf: container('Overrides of the init container that prepares /etc/slurm.'),
    template: podTemplate(),
    rootSshAuthorizedKeys: optional(
      text({ description: 'Public keys that may log in as root, one per line.', maxLength: 262_144 }),
    ),
    extraSshdConfig: optional(text({ description: 'Lines added to sshd_config.', maxLength: 65_536 })),
    sssdConfRef: secretKey('Secret with sssd.conf, which provides the users of the login nodes.', [
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
                  intOrString({
                    description:
                      'Maximum number of pods above the desired number, as a number or percentage.',
                  }),
                ),
                maxUnavailable: optional(
                  intOrString({
                    description: 'Maximum number of unavailable pods, as a number or percentage.',
                  }),
                ),
              },
              { description: 'RollingUpdate parameters.' },
            ),
          ),
        },
        { description: 'Update strategy of the Deployment.' },
      ),
    ),
    service: service('the login nodes', port.ssh),
  },
  {
    description: 'Desired state of the login nodes.',
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
    replicas: count('Number of login pods.'),
    readyReplicas: count('Number of ready login pods.'),
    selector: text({ description: 'Label selector of the login pods, for autoscalers.', default: '' }),
  },
  { description: 'Most recently observed state.' },
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
      description: 'Number of login pods.',
    },
    ...readyColumns,
    reasonColumn,
    ageColumn,
  ],
  rules: nameRules('LoginSet', 63, 'it is the name of a Service'),
});

export type LoginSet = StoredObject<typeof loginSetKind>;
