/** Account: an account of Slurm's accounting with its members, declared. */
import { flag, integer, intOrString, list, mapOf, object, optional, text } from '../schema/fields.ts';
import { ageColumn, defineKind, readyColumns, reasonColumn, type StoredObject } from '../schema/kind.ts';
import { longestRowName, rowNameRule, userNameRule } from '../shared/accounting-names.ts';
import { declaredSpec, declaredStatus } from '../shared/declared.ts';
import { associationLimits } from '../shared/limits.ts';
import { localReference, named } from '../shared/references.ts';
import { commonStatus } from '../shared/status.ts';
import { oneLine } from '../shared/text-rules.ts';

const rowName = (field: string, description: string) =>
  text({ description, maxLength: longestRowName, rules: [rowNameRule(field)] });

const userName = (field: string, description: string) =>
  text({ description, maxLength: longestRowName, rules: [userNameRule(field)] });

const words = (field: string, description: string) =>
  optional(text({ description, maxLength: 255, rules: [oneLine(field, 'write it in one line')] }));

/** In a long list the rules of names would cost the API server too much: patterns cost nothing, and say less. */
const listedRowName = (description: string) =>
  text({ description, maxLength: longestRowName, pattern: '^[a-z0-9_][a-z0-9_.@+-]*$' });

type NameOf = (field: string, description: string) => ReturnType<typeof text>;

/** What an account and a member can both be given. */
const share = (of: string, name: NameOf) => ({
  fairshare: optional(
    intOrString({
      description: `Shares of ${of} among its siblings, or "parent": the shares of the account above count.`,
      pattern: '^parent$',
      minimum: 0,
    }),
  ),
  priority: optional(
    integer({
      description: `Added to the priority of jobs of ${of}.`,
      minimum: 0,
      maximum: 4_294_967_000,
      format: 'int64',
    }),
  ),
  qos: optional(
    list(name('qos[]', 'Name of a QOS.'), {
      description: `QOS that jobs of ${of} may use. They must exist. What leaves the specification is inherited again.`,
      merge: 'set',
      maxItems: 32,
      minItems: 1,
    }),
  ),
  defaultQos: optional(
    name('defaultQos', `QOS of jobs of ${of} that name none. It must be one of those allowed.`),
  ),
});

const member = object(
  {
    user: text({
      description: 'Name of the user, as on the nodes.',
      maxLength: longestRowName,
      pattern: '^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$',
    }),
    default: optional(
      flag({
        description:
          'Jobs of the user that name no account use this one. The first account of a user is the default until another one is.',
        rules: [
          { rule: 'self', message: 'default must be true or left out: set it in another account instead' },
        ],
      }),
    ),
    ...share('the member', (_, description) => listedRowName(description)),
    limits: associationLimits('the member in this account', 'the member', 'listed'),
  },
  { description: 'One user of the account.' },
);

const spec = object(
  {
    accountingRef: localReference(
      'The Accounting in this namespace whose database has the account.',
      'Accounting',
      [named('accountingRef', 'Accounting')],
    ),
    name: optional(rowName('name', 'Name in Slurm. Defaults to the name of this object. It cannot change.')),
    description: words('description', 'Description in Slurm.'),
    organization: words('organization', 'Organization in Slurm.'),
    parent: optional(
      rowName('parent', 'The account above. It must exist. A new account without it is below root.'),
    ),
    clusters: optional(
      list(rowName('clusters[]', 'ClusterName of slurm.conf.'), {
        description:
          'Clusters of the database on which the account exists. Default: those of the Controllers in this namespace that use the Accounting. A cluster that leaves the list keeps its rows.',
        merge: 'set',
        maxItems: 32,
        minItems: 1,
      }),
    ),
    ...share('the account', rowName),
    limits: associationLimits('the account and those below it together', 'each member'),
    coordinators: optional(
      list(userName('coordinators[]', 'Name of a user that Slurm knows.'), {
        description: 'Users who may change the account with sacctmgr. An empty list removes all.',
        merge: 'set',
        maxItems: 64,
      }),
    ),
    members: optional(
      list(member, {
        description:
          'Users of the account. One that leaves the list leaves the account, when no job of it is left. Members that the list never had are not touched.',
        merge: ['user'],
        maxItems: 2000,
      }),
    ),
    ...declaredSpec,
  },
  {
    description:
      'Desired state of the account. Fields that are left out are not owned: Slurm keeps their values.',
    rules: [
      {
        rule: 'self.accountingRef.name == oldSelf.accountingRef.name',
        message: 'accountingRef.name cannot change: delete this object and create another one',
      },
      {
        rule: 'has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name)',
        message: 'name cannot change: delete this object and create another one',
      },
    ],
  },
);

const status = object(
  {
    ...commonStatus,
    members: optional(
      integer({ description: 'Members in Slurm that the specification names.', format: 'int32' }),
    ),
    ...declaredStatus,
    applied: optional(
      mapOf(text({ description: 'Fields of the row as JSON; null while one is being written.' }), {
        description:
          'Rows that the operator wrote in Slurm and owns, with the fields of each: account, <cluster>/ and <cluster>/<user>. What leaves the specification is unset or removed.',
      }),
    ),
  },
  { description: 'Most recently observed state.' },
);

export const accountKind = defineKind({
  kind: 'Account',
  plural: 'accounts',
  singular: 'account',
  shortNames: [],
  description:
    'An account in the accounting database with its members: who may use what, and how much of it.',
  spec,
  status,
  scalable: false,
  columns: [
    {
      name: 'PARENT',
      type: 'string',
      jsonPath: '.spec.parent',
      description: 'The account above that the specification names.',
    },
    {
      name: 'MEMBERS',
      type: 'integer',
      jsonPath: '.status.members',
      description: 'Members in Slurm that the specification names.',
    },
    {
      name: 'DRIFT',
      type: 'string',
      jsonPath: '.spec.drift',
      description: 'What happens when someone changes it in Slurm.',
      priority: 1,
    },
    ...readyColumns,
    { ...reasonColumn, priority: 0 },
    ageColumn,
  ],
  rules: [
    {
      rule: 'has(self.spec.name) || self.metadata.name.size() <= 60',
      message:
        'the name of an Account without spec.name may have at most 60 characters, because it is the name in Slurm: set spec.name',
    },
    {
      rule: "(has(self.spec.name) ? self.spec.name : self.metadata.name) != 'root'",
      message: 'account root belongs to Slurm: declare accounts below it',
    },
  ],
});

export type Account = StoredObject<typeof accountKind>;
