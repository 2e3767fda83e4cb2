/** The rows of the accounts page: each account below its parent, each user below the account. Pure. */
import type { SlurmAccount, SlurmAssociation } from '@slurm-operator/slurm';

export interface AccountRow {
  readonly key: string;
  readonly depth: number;
  readonly account: string;
  /** Empty for the account itself. */
  readonly user: string;
  readonly shares: number | undefined;
  readonly qos: readonly string[];
  readonly description: string;
}

/** An account without a parent is a root; one whose parent leads back to it is shown once. */
export function accountTree(
  accounts: readonly SlurmAccount[],
  associations: readonly SlurmAssociation[],
): readonly AccountRow[] {
  const descriptions = new Map(accounts.map(({ name, description }) => [name, description]));
  const own = associations.filter(({ user, partition }) => user === '' && partition === '');
  const names = new Set([...own.map(({ account }) => account), ...accounts.map(({ name }) => name)]);
  const parentOf = new Map(own.map(({ account, parentAccount }) => [account, parentAccount]));
  const rows: AccountRow[] = [];
  const seen = new Set<string>();
  const add = (account: string, depth: number) => {
    if (seen.has(account)) return;
    seen.add(account);
    const self = own.find((one) => one.account === account);
    const description = descriptions.get(account) ?? '';
    rows.push({
      key: account,
      depth,
      account,
      user: '',
      shares: self?.sharesRaw,
      qos: self?.qos ?? [],
      description,
    });
    const users = associations.filter((one) => one.account === account && one.user !== '');
    for (const { user, partition, sharesRaw, qos } of users.toSorted((a, b) => a.user.localeCompare(b.user)))
      rows.push({
        key: `${account}/${user}/${partition}`,
        depth: depth + 1,
        account,
        user,
        shares: sharesRaw,
        qos,
        description: partition === '' ? '' : `in partition ${partition}`,
      });
    for (const child of [...names].toSorted()) if (parentOf.get(child) === account) add(child, depth + 1);
  };
  const isRoot = (name: string) => !names.has(parentOf.get(name) ?? '');
  for (const name of [...names].filter(isRoot).toSorted()) add(name, 0);
  for (const name of [...names].toSorted()) add(name, 0);
  return rows;
}
