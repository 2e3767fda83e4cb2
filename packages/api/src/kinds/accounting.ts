/** Accounting: slurmdbd and its database. */
import { flag, integer, object, optional, type Rule, text } from '../schema/fields.ts';
import { ageColumn, defineKind, readyColumns, reasonColumn, type StoredObject } from '../schema/kind.ts';
import {
  internalOrExternal,
  jwksKeyRef,
  jwtKeyIsFixedUnlessExternal,
  jwtKeyRefs,
  slurmKeyRef,
} from '../shared/keys.ts';
import { externalConfig, named, secretKey } from '../shared/references.ts';
import { commonStatus } from '../shared/status.ts';
import { container, podTemplate, service } from '../shared/templates.ts';
import { hostName, nameRules } from '../shared/text-rules.ts';
import { port } from '../well-known.ts';

/** A word of slurmdbd.conf: no blank, quote or comment sign, so that it cannot leave its value. */
const word = (field: string, example: string): Rule => ({
  rule: "self.matches('^[A-Za-z0-9_][A-Za-z0-9_.@-]*$')",
  message: `${field} may contain only letters, digits and . _ @ -, such as ${example}`,
});

const storageConfig = object(
  {
    host: text({
      description: 'Host name or address of the MariaDB or MySQL server.',
      maxLength: 253,
      rules: [hostName('storageConfig.host')],
    }),
    port: integer({
      description: 'Port of the database server.',
      default: port.mysql,
      minimum: 1,
      maximum: 65_535,
    }),
    database: text({
      description: 'Name of the database.',
      default: 'slurm_acct_db',
      maxLength: 64,
      rules: [word('storageConfig.database', 'slurm_acct_db')],
    }),
    username: optional(
      text({
        description: 'User of the database. Defaults to the user that slurmdbd runs as.',
        maxLength: 80,
        rules: [
          {
            rule: `self == '' || ${word('', '').rule}`,
            message: word('storageConfig.username', 'slurm').message,
          },
        ],
      }),
    ),
    passwordKeyRef: secretKey('Secret with the password of that user.', [
      named('storageConfig.passwordKeyRef', 'Secret with the password'),
    ]),
  },
  { description: 'The database that stores the records.' },
);

const spec = object(
  {
    slurmKeyRef,
    ...jwtKeyRefs,
    jwksKeyRef,
    external: flag({
      description:
        'slurmdbd runs elsewhere, at the address in externalConfig. The operator then starts no slurmdbd.',
      default: false,
    }),
    externalConfig: externalConfig('slurmdbd'),
    slurmdbd: container('Overrides of the slurmdbd container: image, resources, arguments, environment.'),
    template: podTemplate(),
    storageConfig: optional(storageConfig),
    extraConf: optional(
      text({
        description:
          'Lines added to slurmdbd.conf. A key that is set here takes precedence over the generated one.',
        maxLength: 262_144,
      }),
    ),
    service: service('slurmdbd', port.slurmdbd),
  },
  {
    description: 'Desired state of the accounting.',
    rules: [
      ...internalOrExternal,
      {
        rule: 'self.external || has(self.storageConfig)',
        message: 'storageConfig must be set when external is false: slurmdbd needs a database',
        reason: 'FieldValueRequired',
      },
      jwtKeyIsFixedUnlessExternal,
    ],
  },
);

const status = object(
  {
    ...commonStatus,
    slurmVersion: optional(text({ description: 'Version that slurmdbd reports.' })),
  },
  { description: 'Most recently observed state.' },
);

export const accountingKind = defineKind({
  kind: 'Accounting',
  plural: 'accountings',
  singular: 'accounting',
  shortNames: ['slurmdbd'],
  description:
    'slurmdbd: keeps accounts, limits and the history of jobs in a database, for one or more Controllers.',
  spec,
  status,
  scalable: false,
  columns: [...readyColumns, reasonColumn, ageColumn],
  rules: nameRules('Accounting', 41, 'Kubernetes adds "-accounting" and a revision to it in a label'),
});

export type Accounting = StoredObject<typeof accountingKind>;
