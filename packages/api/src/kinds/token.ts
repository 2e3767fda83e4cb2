/** Token: a JSON Web Token for a Slurm user, kept fresh in a Secret. */
import { flag, object, optional, text } from '../schema/fields.ts';
import { ageColumn, defineKind, readyColumns, reasonColumn, type StoredObject } from '../schema/kind.ts';
import { jwtKeyIsFixed, jwtKeyRefs } from '../shared/keys.ts';
import { secretKey } from '../shared/references.ts';
import { commonStatus } from '../shared/status.ts';
import { goDuration } from '../shared/text-rules.ts';
import { tokenSecretKey } from '../well-known.ts';

const spec = object(
  {
    ...jwtKeyRefs,
    username: text({
      description: 'Slurm user of the token.',
      maxLength: 64,
      rules: [
        {
          rule: "self.matches('^[A-Za-z0-9_][A-Za-z0-9_.@-]*$')",
          message: 'username must be a user name of letters, digits and . _ @ -, such as alice',
        },
      ],
    }),
    lifetime: optional(
      text({
        description: 'Lifetime of a token, such as 15m or 1h. Defaults to 15m.',
        maxLength: 64,
        rules: [
          {
            rule: `self.matches('${goDuration}') && duration(self) >= duration('10s')`,
            message: 'lifetime must be a duration of at least ten seconds, such as 15m or 1h',
          },
        ],
      }),
    ),
    refresh: flag({
      description:
        'Renews the token after four fifths of its lifetime. If false, the Secret is created once and is immutable.',
      default: true,
    }),
    secretRef: optional(
      secretKey(
        `Secret and key in which the token is stored. The name defaults to <token>-jwt-<username>, the key to ${tokenSecretKey}.`,
      ),
    ),
  },
  {
    description: 'Desired state of the token.',
    rules: [
      {
        rule: 'has(self.jwtKeyRef) || has(self.jwtHs256KeyRef)',
        message: 'jwtKeyRef or jwtHs256KeyRef must be set',
        reason: 'FieldValueRequired',
      },
      jwtKeyIsFixed,
    ],
  },
);

const status = object(
  {
    ...commonStatus,
    issuedAt: optional(
      text({ description: 'Time at which the token in the Secret was issued.', format: 'date-time' }),
    ),
    expiresAt: optional(
      text({ description: 'Time at which the token in the Secret expires.', format: 'date-time' }),
    ),
    secretName: optional(text({ description: 'The Secret that contains the token.' })),
  },
  { description: 'Most recently observed state.' },
);

export const tokenKind = defineKind({
  kind: 'Token',
  plural: 'tokens',
  singular: 'token',
  shortNames: ['tokens', 'jwt'],
  description: 'A JSON Web Token for one Slurm user, stored in a Secret and renewed automatically.',
  spec,
  status,
  scalable: false,
  columns: [
    {
      name: 'USER',
      type: 'string',
      jsonPath: '.spec.username',
      description: 'Slurm user of the token.',
    },
    {
      name: 'IAT',
      type: 'date',
      jsonPath: '.status.issuedAt',
      description: 'Time since the token was issued.',
    },
    ...readyColumns,
    reasonColumn,
    ageColumn,
  ],
  rules: [],
});

export type Token = StoredObject<typeof tokenKind>;
