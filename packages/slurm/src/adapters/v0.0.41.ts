/** v0.0.41 (Slurm 24.05, 24.11): the base that the later versions change a little of. */
import { defineAdapter } from './adapter.ts';
import {
  readAccount,
  readAccountingJob,
  readAssociation,
  readClusterRecord,
  readQos,
  readTres,
  readUser,
} from './read-accounting.ts';
import { readDiag, readLicense, readOldPing, readPartition, readReservation } from './read-cluster.ts';
import { readJob, readJobState } from './read-job.ts';
import { readNode } from './read-node.ts';

export const readers41 = {
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

export const abilities41 = {
  updateTime: false,
  cancelStatus: false,
  databasePing: false,
  nodeTopology: false,
  writeReservations: false,
  createNodes: false,
  requeue: false,
  writePartitions: false,
};

export const adapter41 = defineAdapter('v0.0.41', abilities41, readers41);
