/** Accounts as a tree, with their users, shares, and what they run now. */
import type { SlurmAccount, SlurmAssociation } from '@slurm-operator/slurm';
import { type Address, pathOf } from '../address.ts';
import { Link } from '../link.tsx';
import type { LiveCluster } from '../live-cluster.ts';
import { Scroll } from '../scroll.tsx';
import { useEvery, useRead } from '../use-read.ts';
import { accountTree } from './account-tree.ts';

interface AccountsBody {
  readonly accounts: { readonly items: readonly SlurmAccount[]; readonly missing: string };
  readonly associations: { readonly items: readonly SlurmAssociation[]; readonly missing: string };
  readonly use: Readonly<Record<string, { readonly running: number; readonly pending: number; readonly cpus: number; readonly gpus: number }>>;
}

export function Accounts({ at, live }: { at: Extract<Address, { cluster: string }>; live: LiveCluster }) {
  const { value, problem } = useRead<AccountsBody>(`${live.base}/accounts`, useEvery(15_000));
  const rows = value === undefined ? [] : accountTree(value.accounts.items, value.associations.items);
  const missing = value?.accounts.missing || value?.associations.missing;
  return (
    <section>
      <h2 class="page">Accounts</h2>
      {problem !== '' && <p class="notice bad">{problem}</p>}
      {missing !== undefined && missing !== '' && <p class="quiet">{missing}</p>}
      {rows.length > 0 && (
        <Scroll label="Accounts">
          <table>
            <thead>
              <tr>
                <th>Account or user</th>
                <th class="number">Share</th>
                <th class="number">Running</th>
                <th class="number">Pending</th>
                <th class="number">CPUs</th>
                <th class="number">GPUs</th>
                <th>QOS</th>
                <th>Description</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ key, depth, account, user, shares, qos, description }) => {
                const use = value?.use[user === '' ? account : `${account}/${user}`];
                const filter = new URLSearchParams(user === '' ? { account } : { account, user });
                return (
                  <tr key={key}>
                    <td class={user === '' ? 'row-name' : ''}>
                      {depth > 0 && <span class="quiet">{'– '.repeat(depth)}</span>}
                      <Link to={pathOf(at, 'jobs', '', filter)}>{user === '' ? account : user}</Link>
                    </td>
                    <td class="number">{shares ?? ''}</td>
                    <td class="number">{use?.running ?? 0}</td>
                    <td class="number">{use?.pending ?? 0}</td>
                    <td class="number">{use?.cpus ?? 0}</td>
                    <td class="number">{use?.gpus ?? 0}</td>
                    <td>{qos.join(', ')}</td>
                    <td class="text">{description}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}
