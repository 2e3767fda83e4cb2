/** The types of conditions of all kinds; their reasons are in `reasons.ts`. */

export const conditionType = {
  /** The object matches its specification. */
  ready: 'Ready',
  /** A start, a rollout or a drain is in progress. */
  progressing: 'Progressing',
  /** A problem that needs attention, or that has lasted too long. */
  degraded: 'Degraded',
  /** Controller: the operator is connected to its Slurm. */
  slurmConnected: 'SlurmConnected',
  /** Controller: slurmctld uses the desired configuration. NodeSet: slurm.conf contains the desired lines of the NodeSet. */
  configApplied: 'ConfigApplied',
  /** Accounting, and the Cluster that queries it: the database responds. */
  databaseReachable: 'DatabaseReachable',
  /** NodeSet: the reservation of a ScheduledUpdate exists. */
  reservationCreated: 'ReservationCreated',
  /** Controller, NodeSet, LoginSet, Accounting: every daemon uses the newest keys. */
  keysCurrent: 'KeysCurrent',
} as const;
