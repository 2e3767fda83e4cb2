/** The adapters of all API versions, each based on the version before it. */
import type { ApiVersion } from '../connection/api-version.ts';
import { type Adapter, defineAdapter } from './adapter.ts';
import { readQos } from './qos-wire.ts';
import {
  readAccount,
  readAccountingJob,
  readAssociation,
  readClusterRecord,
  readTres,
  readUser,
} from './read-accounting.ts';
import {
  readDiag,
  readLicense,
  readOldPing,
  readPartition,
  readPing,
  readReservation,
} from './read-cluster.ts';
import { readJob, readJobState } from './read-job.ts';
import { readNode } from './read-node.ts';

// v0.0.41 (Slurm 24.05, 24.11).
const readers41 = {
  node: readNode,
  job: readJob,
  jobState: readJobState,
  partition: readPartition,
  reservation: readReservation,
  ping: readOldPing,
  license: readLicense,
  diag: readDiag,
  account: readAccount,
  user: readUser,
  association: readAssociation,
  qos: readQos,
  clusterRecord: readClusterRecord,
  accountingJob: readAccountingJob,
  tres: readTres,
};

const abilities41 = {
  updateTime: false,
  cancelStatus: false,
  databasePing: false,
  nodeTopology: false,
  writeReservations: false,
  createNodes: false,
  requeue: false,
  writePartitions: false,
  emptyPreemptLists: false,
};

const adapter41 = defineAdapter('v0.0.41', abilities41, readers41);

// v0.0.42 (Slurm 24.11 to 26.05): ping has `responding`, update_time takes a number, a cancel reports failures.
const readers42 = { ...readers41, ping: readPing };
const abilities42 = { ...abilities41, updateTime: true, cancelStatus: true, databasePing: true };
const adapter42 = defineAdapter('v0.0.42', abilities42, readers42);

// v0.0.43 (Slurm 25.05 and later): a node's topology and reservations can be written.
const readers43 = readers42;
const abilities43 = { ...abilities42, nodeTopology: true, writeReservations: true };
const adapter43 = defineAdapter('v0.0.43', abilities43, readers43);

// v0.0.44 (Slurm 25.11 and later): nodes can be created.
const readers44 = readers43;
const abilities44 = { ...abilities43, createNodes: true };
const adapter44 = defineAdapter('v0.0.44', abilities44, readers44);

// v0.0.45 (Slurm 26.05): requeue and partitions by REST.
const adapter45 = defineAdapter(
  'v0.0.45',
  { ...abilities44, requeue: true, writePartitions: true, emptyPreemptLists: true },
  readers44,
);

/** The adapter of each API version. */
export const adapters: Readonly<Record<ApiVersion, Adapter>> = {
  'v0.0.41': adapter41,
  'v0.0.42': adapter42,
  'v0.0.43': adapter43,
  'v0.0.44': adapter44,
  'v0.0.45': adapter45,
};
