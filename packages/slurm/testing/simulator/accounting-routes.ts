/** The simulated slurmdbd, as slurmrestd shows it. */
import { good, type Reply } from './reply.ts';
import type { Request } from './request.ts';
import { account, association, tres, user } from './simulated-accounting.ts';
import type { Wire } from './wire-format.ts';

type Named = { readonly name: string; readonly description?: string; readonly organization?: string };

const values = (map: ReadonlyMap<string, Wire>) => [...map.values()];

export const databasePing = ({ version }: Request): Reply => {
  const ping = { hostname: 'slurmdbd', responding: true, latency: 300, primary: true };
  return good({ pings: [version === 'v0.0.45' ? { ...ping, status: 'No error' } : ping] });
};

export const listAccounts = ({ cluster }: Request): Reply =>
  good({ accounts: values(cluster.accounting.accounts) });
export const listUsers = ({ cluster }: Request): Reply => good({ users: values(cluster.accounting.users) });
export const listAssociations = ({ cluster }: Request): Reply =>
  good({ associations: values(cluster.accounting.associations) });
export const listQos = ({ cluster }: Request): Reply => good({ qos: values(cluster.accounting.qos) });
export const listTres = (): Reply => good({ TRES: tres });

export const listClusters = ({ cluster }: Request): Reply =>
  good({
    clusters: [
      {
        controller: { host: '10.79.0.10', port: 6817 },
        flags: [],
        name: 'mini',
        nodes: cluster.allNodes(),
        tres: [],
      },
    ],
  });

export const listAccountingJobs = ({ cluster, format }: Request): Reply =>
  good({ jobs: [...cluster.jobs.values()].map((job) => format.accountingJob(job)) });

export function getAccountingJob({ cluster, format, parameter }: Request): Reply {
  const job = cluster.jobs.get(Number(parameter));
  return job === undefined
    ? good({ jobs: [] }, ['Nothing found'])
    : good({ jobs: [format.accountingJob(job)] });
}

export function putAccounts({ cluster, body }: Request): Reply {
  for (const { name, description, organization } of (body['accounts'] ?? []) as Named[])
    cluster.accounting.accounts.set(name, account(name, description, organization));
  return good();
}

export function putUsers({ cluster, body }: Request): Reply {
  for (const { name } of (body['users'] ?? []) as Named[]) cluster.accounting.users.set(name, user(name));
  return good();
}

export function putAssociations({ cluster, body }: Request): Reply {
  for (const fields of (body['associations'] ?? []) as Parameters<typeof association>[0][])
    cluster.accounting.associations.set(associationKey(fields), association(fields));
  return good();
}

/** Deleting what is not there is "not modified". */
const remove =
  (kind: 'accounts' | 'users') =>
  ({ cluster, parameter }: Request): Reply => {
    const removed = cluster.accounting[kind].delete(parameter);
    return removed ? good({ [`removed_${kind}`]: [parameter] }) : { status: 304 };
  };
export const deleteAccount = remove('accounts');
export const deleteUser = remove('users');

export function deleteAssociation({ cluster, query }: Request): Reply {
  const key = associationKey({ account: query.get('account') ?? '', user: query.get('user') ?? '' });
  const removed = cluster.accounting.associations.delete(key);
  return good({ removed_associations: removed ? [key] : [] });
}

function associationKey(fields: { account: string; user?: string; partition?: string }): string {
  return `${fields.account}/${fields.user ?? ''}/${fields.partition ?? ''}`;
}
