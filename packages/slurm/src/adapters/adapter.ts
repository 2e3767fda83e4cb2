/**
 * An adapter: the readers that convert the objects of one API version to the model, and the abilities of that version.
 * The readers are type-checked against the generated types of their version; other modules only use the model.
 */
import type { ApiVersion } from '../connection/api-version.ts';
import type { OperationsOf } from '../generated/index.ts';
import type {
  AccountingJob,
  SlurmAccount,
  SlurmAssociation,
  SlurmClusterRecord,
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
import type { SlurmQos } from '../model/qos.ts';

/** Abilities that not every API version has. An older Slurm may lack one in the same version. */
export interface Abilities {
  /** `update_time` takes a plain number. */
  readonly updateTime: boolean;
  /** DELETE of a job reports failures in `status[]`. */
  readonly cancelStatus: boolean;
  readonly databasePing: boolean;
  readonly nodeTopology: boolean;
  readonly writeReservations: boolean;
  readonly createNodes: boolean;
  readonly requeue: boolean;
  readonly writePartitions: boolean;
  /** A QOS that is deleted leaves the preempt lists of others. Before that it stays there, and REST can read no list of QOS. */
  readonly emptyPreemptLists: boolean;
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

/** The readers as the operations use them, on untyped JSON. */
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
