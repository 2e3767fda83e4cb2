/** The simulated slurmdbd, as slurmrestd shows it. */
import { good, type Reply } from './reply.ts';
import type { Request } from './request.ts';
import { tres } from './simulated-accounting.ts';
import type { Wire } from './wire-format.ts';

const values = (map: ReadonlyMap<string, Wire>) => [...map.values()];

export const databasePing = ({ version }: Request): Reply => {
  const ping = { hostname: 'slurmdbd', responding: true, latency: 300, primary: true };
  return good({ pings: [version === 'v0.0.45' ? { ...ping, status: 'No error' } : ping] });
};

export const listAccounts = ({ cluster }: Request): Reply =>
  good({ accounts: values(cluster.accounting.accounts) });
export const listUsers = ({ cluster }: Request): Reply => good({ users: values(cluster.accounting.users) });
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
  const job = cluster.jobs.get(Number(parameter)) ?? cluster.forgottenJobs.get(Number(parameter));
  return job === undefined
    ? good({ jobs: [] }, ['Nothing found'])
    : good({ jobs: [format.accountingJob(job)] });
}
