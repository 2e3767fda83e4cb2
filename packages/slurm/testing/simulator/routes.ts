/** Which endpoints a release and API version has. Everything else is a 404 in plain text. */
import type { ApiVersion } from '../../src/connection/api-version.ts';
import type { SlurmRelease } from '../slurm-rootfs.ts';
import * as accounting from './accounting-routes.ts';
import * as cluster from './cluster-routes.ts';
import * as jobs from './job-routes.ts';
import * as nodes from './node-routes.ts';
import type { Reply } from './reply.ts';
import type { Request } from './request.ts';
import * as accounts from './simulated-accounts.ts';
import { deleteQos, putQos } from './simulated-qos.ts';

export interface Route {
  /** Method and path after the version; `*` stands for the parameter. */
  readonly pattern: string;
  readonly handle: (request: Request) => Reply;
  readonly since?: ApiVersion;
  /** Only this release has it, whatever its API version. */
  readonly only?: SlurmRelease;
}

const route = (
  pattern: string,
  handle: Route['handle'],
  limits: Omit<Route, 'pattern' | 'handle'> = {},
): Route => ({
  pattern,
  handle,
  ...limits,
});

export const routes: readonly Route[] = [
  route('GET slurm/ping', cluster.ping),
  route('GET slurm/diag', cluster.diag),
  route('GET slurm/licenses', cluster.licenses),
  route('GET slurm/reconfigure', cluster.reconfigure),
  route('GET slurm/nodes', nodes.listNodes),
  route('POST slurm/nodes', nodes.updateManyNodes),
  route('GET slurm/node/*', nodes.getNode),
  route('POST slurm/node/*', nodes.updateNode),
  route('DELETE slurm/node/*', nodes.deleteNode),
  route('POST slurm/new/node', nodes.createNode, { since: 'v0.0.44' }),
  route('GET slurm/jobs', jobs.listJobs),
  route('GET slurm/jobs/state', jobs.listJobStates),
  route('POST slurm/job/submit', jobs.submitJob),
  route('GET slurm/job/*/requeue', jobs.requeueJob, { since: 'v0.0.45' }),
  route('GET slurm/job/*', jobs.getJob),
  route('POST slurm/job/*', jobs.updateJob),
  route('DELETE slurm/job/*', jobs.cancelJob),
  route('GET slurm/partitions', cluster.listPartitions),
  route('POST slurm/partitions', cluster.createPartition, { since: 'v0.0.45' }),
  route('GET slurm/partition/*', cluster.getPartition),
  route('DELETE slurm/partition/*', cluster.deletePartition, { since: 'v0.0.45' }),
  route('GET slurm/reservations', cluster.listReservations),
  route('POST slurm/reservation', cluster.writeReservation, { since: 'v0.0.43' }),
  route('GET slurm/reservation/*', cluster.getReservation),
  route('DELETE slurm/reservation/*', cluster.deleteReservation, { only: '26.05' }),
  route('GET slurmdb/ping', accounting.databasePing, { since: 'v0.0.42' }),
  route('GET slurmdb/accounts', accounting.listAccounts),
  route('POST slurmdb/accounts', accounts.putAccounts),
  route('DELETE slurmdb/account/*', accounts.deleteAccount),
  route('GET slurmdb/users', accounting.listUsers),
  route('POST slurmdb/users', accounts.putUsers),
  route('POST slurmdb/users_association', accounts.addUsers),
  route('POST slurmdb/accounts_association', accounts.addAccounts),
  route('DELETE slurmdb/user/*', accounts.deleteUser),
  route('GET slurmdb/associations', accounts.listAssociations),
  route('POST slurmdb/associations', accounts.putAssociations),
  route('DELETE slurmdb/association', accounts.deleteAssociation),
  route('GET slurmdb/qos', accounting.listQos),
  route('POST slurmdb/qos', putQos),
  route('DELETE slurmdb/qos/*', deleteQos),
  route('GET slurmdb/clusters', accounting.listClusters),
  route('GET slurmdb/tres', accounting.listTres),
  route('GET slurmdb/jobs', accounting.listAccountingJobs),
  route('GET slurmdb/job/*', accounting.getAccountingJob),
];

/** The API versions that each release serves and this library supports. */
export const versionsOf: Readonly<Record<SlurmRelease, readonly ApiVersion[]>> = {
  '26.05': ['v0.0.42', 'v0.0.43', 'v0.0.44', 'v0.0.45'],
  '24.11': ['v0.0.41', 'v0.0.42'],
};

export function findRoute(
  release: SlurmRelease,
  version: ApiVersion,
  method: string,
  path: string,
): { readonly route: Route; readonly parameter: string } | undefined {
  const words = `${method} ${path.replace(/\/$/, '')}`.split('/');
  for (const candidate of routes) {
    if (candidate.since !== undefined && version < candidate.since) continue;
    if (candidate.only !== undefined && release !== candidate.only) continue;
    const wanted = candidate.pattern.split('/');
    if (wanted.length !== words.length) continue;
    let parameter = '';
    const fits = wanted.every((word, index) => {
      if (word !== '*') return word === words[index];
      parameter = decodeURIComponent(words[index] ?? '');
      return parameter !== '';
    });
    if (fits) return { route: candidate, parameter };
  }
  return undefined;
}
