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
      description: 'Slurm user that the token speaks for.',
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
        description: 'How long a token is valid, such as 15m or 1h. Absent means 15m.',
        maxLength: 64,
        rules: [
          {
            rule: `self.matches('${goDuration}') && duration(self) >= duration('10s')`,
            message: 'lifetime must be a length of time of at least ten seconds, such as 15m or 1h',
          },
        ],
      }),
    ),
    refresh: flag({
      description:
        'Whether the token is renewed after four fifths of its lifetime. With false the Secret is made once and cannot change.',
      default: true,
    }),
    secretRef: optional(
      secretKey(
        `Secret and key that receive the token. Absent, or with an empty name, means <token>-jwt-<username>; the usual key is ${tokenSecretKey}.`,
      ),
    ),
  },
  {
    description: 'The token that is wanted.',
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
    issuedAt: optional(text({ description: 'When the token in the Secret was made.', format: 'date-time' })),
    expiresAt: optional(
      text({ description: 'When the token in the Secret becomes void.', format: 'date-time' }),
    ),
    secretName: optional(text({ description: 'The Secret that holds the token.' })),
  },
  { description: 'What was seen last.' },
);

export const tokenKind = defineKind({
  kind: 'Token',
  plural: 'tokens',
  singular: 'token',
  shortNames: ['tokens', 'jwt'],
  description: 'A JSON Web Token for one Slurm user, kept fresh in a Secret.',
  spec,
  status,
  scalable: false,
  columns: [
    {
      name: 'USER',
      type: 'string',
      jsonPath: '.spec.username',
      description: 'User that the token speaks for.',
    },
    {
      name: 'IAT',
      type: 'date',
      jsonPath: '.status.issuedAt',
      description: 'Time since the token was made.',
    },
    ...readyColumns,
    reasonColumn,
    ageColumn,
  ],
  rules: [],
});

export type Token = StoredObject<typeof tokenKind>;
