/** What an account or a member of one may use, complete: what `sacctmgr show assoc` has, in one shape for every API version. */
import type { Limit } from '../wire/values.ts';
import type { TresCounts } from './qos.ts';

/** Names one row. All four parts count: two rows of a user differ only in the partition. */
export interface AssociationKey {
  readonly cluster: string;
  readonly account: string;
  /** Empty: the row of the account itself. */
  readonly user: string;
  /** Empty: every partition. */
  readonly partition: string;
}

/** The row's own values: what it inherits from its parents is not set here. */
export interface AssociationRow extends AssociationKey {
  /** Of an account; empty for a member. It cannot be changed to nothing. */
  readonly parent: string;
  /** The account that jobs of the user get; one per user and cluster. Making another one the default is the only way to end it. */
  readonly isDefault: boolean;
  /** `parent`: the share of the account counts. */
  readonly fairshare: number | 'parent';
  readonly priority: Limit;
  /** Empty: inherited. The first write of a row makes the inherited list its own, and a list that is set cannot be emptied by REST. */
  readonly qos: readonly string[];
  readonly defaultQos: string;
  readonly limits: AssociationLimits;
}

/** A limit that is not set is `infinite`; a TRES that is not limited is left out. */
export interface AssociationLimits {
  /** All jobs of the row and of the rows below it together. */
  readonly group: {
    readonly jobs: Limit;
    readonly submit: Limit;
    readonly accruing: Limit;
    readonly wallMinutes: Limit;
    readonly tres: TresCounts;
    readonly tresMinutes: TresCounts;
    readonly tresRunMinutes: TresCounts;
  };
  /** Each member: rows below inherit it. */
  readonly perMember: {
    readonly jobs: Limit;
    readonly submit: Limit;
    readonly accruing: Limit;
    readonly tresRunMinutes: TresCounts;
  };
  readonly perJob: {
    readonly wallMinutes: Limit;
    readonly tres: TresCounts;
    readonly tresPerNode: TresCounts;
    readonly tresMinutes: TresCounts;
  };
  readonly minPriority: Limit;
}

/** A row as Slurm creates it when only its key is given. */
export function emptyAssociation(key: AssociationKey, parent = ''): AssociationRow {
  const { cluster, account, user, partition } = key;
  return {
    cluster,
    account,
    user,
    partition,
    parent,
    isDefault: false,
    fairshare: 1,
    priority: 'infinite',
    qos: [],
    defaultQos: '',
    limits: {
      group: {
        jobs: 'infinite',
        submit: 'infinite',
        accruing: 'infinite',
        wallMinutes: 'infinite',
        tres: {},
        tresMinutes: {},
        tresRunMinutes: {},
      },
      perMember: { jobs: 'infinite', submit: 'infinite', accruing: 'infinite', tresRunMinutes: {} },
      perJob: { wallMinutes: 'infinite', tres: {}, tresPerNode: {}, tresMinutes: {} },
      minPriority: 'infinite',
    },
  };
}

/** A text that names a row in messages and maps. */
export function associationName({ cluster, account, user, partition }: AssociationKey): string {
  const member = user === '' ? '' : ` user ${user}`;
  const where = partition === '' ? '' : ` partition ${partition}`;
  return `cluster ${cluster} account ${account}${member}${where}`;
}
