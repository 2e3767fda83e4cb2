/**
 * What an adapter is: the readers that turn one API version's objects into the model, and what that version can do.
 * The readers are checked against the generated types of their version; past `defineAdapter` everything is the model.
 */
import type { ApiVersion } from '../connection/api-version.ts';
import type { OperationsOf } from '../generated/index.ts';
import type {
  AccountingJob,
  SlurmAccount,
  SlurmAssociation,
  SlurmClusterRecord,
  SlurmQos,
  SlurmTres,
  SlurmUser,
} from '../model/accounting.ts';
import type {
  ControllerPing,
  SlurmDiag,
  SlurmLicense,
  SlurmPartition,
  SlurmReservation,
} from '../model/cluster.ts';
import type { SlurmJob, SlurmJobState } from '../model/job.ts';
import type { SlurmNode } from '../model/node.ts';

/** Endpoints and abilities that not every API version has. The same version may still lack one in an older Slurm. */
export interface Abilities {
  /** `update_time` takes a plain number. */
  readonly updateTime: boolean;
  /** DELETE job tells in `status[]` what it could not do. */
  readonly cancelStatus: boolean;
  readonly databasePing: boolean;
  readonly nodeTopology: boolean;
  readonly writeReservations: boolean;
  readonly createNodes: boolean;
  readonly requeue: boolean;
  readonly writePartitions: boolean;
}

type Element<Answer, Key extends string> = Answer extends { readonly [K in Key]?: readonly (infer E)[] }
  ? E
  : unknown;
type AnswerOf<O, Key> = Key extends keyof O
  ? O[Key] extends { readonly answer: infer A }
    ? A
    : unknown
  : unknown;
type One<O, Operation, Key extends string> = Element<AnswerOf<O, Operation>, Key>;

/** The readers of one version, typed with that version's own objects. */
interface Readers<O> {
  readonly node: (raw: One<O, 'GET /slurm/nodes/', 'nodes'>) => SlurmNode;
  readonly job: (raw: One<O, 'GET /slurm/jobs/', 'jobs'>) => SlurmJob;
  readonly jobState: (raw: One<O, 'GET /slurm/jobs/state/', 'jobs'>) => SlurmJobState;
  readonly partition: (raw: One<O, 'GET /slurm/partitions/', 'partitions'>) => SlurmPartition;
  readonly reservation: (raw: One<O, 'GET /slurm/reservations/', 'reservations'>) => SlurmReservation;
  readonly ping: (raw: One<O, 'GET /slurm/ping/', 'pings'>) => ControllerPing;
  readonly license: (raw: One<O, 'GET /slurm/licenses/', 'licenses'>) => SlurmLicense;
  readonly diag: (
    raw: AnswerOf<O, 'GET /slurm/diag/'> extends { readonly statistics?: infer S } ? S : unknown,
  ) => SlurmDiag;
  readonly account: (raw: One<O, 'GET /slurmdb/accounts/', 'accounts'>) => SlurmAccount;
  readonly user: (raw: One<O, 'GET /slurmdb/users/', 'users'>) => SlurmUser;
  readonly association: (raw: One<O, 'GET /slurmdb/associations/', 'associations'>) => SlurmAssociation;
  readonly qos: (raw: One<O, 'GET /slurmdb/qos/', 'qos'>) => SlurmQos;
  readonly clusterRecord: (raw: One<O, 'GET /slurmdb/clusters/', 'clusters'>) => SlurmClusterRecord;
  readonly accountingJob: (raw: One<O, 'GET /slurmdb/jobs/', 'jobs'>) => AccountingJob;
  readonly tres: (raw: One<O, 'GET /slurmdb/tres/', 'TRES'>) => SlurmTres;
}

/** The readers as the operations use them, on whatever came over the wire. */
export type Adapter = {
  readonly [Name in keyof Readers<unknown>]: (raw: unknown) => ReturnType<Readers<unknown>[Name]>;
} & { readonly version: ApiVersion; readonly abilities: Abilities };

export function defineAdapter<V extends ApiVersion>(
  version: V,
  abilities: Abilities,
  readers: Readers<OperationsOf[V]>,
): Adapter {
  return { ...(readers as Omit<Adapter, 'version' | 'abilities'>), version, abilities };
}
