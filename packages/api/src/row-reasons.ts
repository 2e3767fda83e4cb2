/** Reasons of the kinds whose objects declare rows of Slurm; part of the table in `reasons.ts`. */
export const rowReasons = {
  QosNotFound: {
    group: 'specification',
    meaning: 'A QOS that the specification names does not exist in the accounting database.',
    advice: 'Create it, or correct the name. It is written as soon as the QOS exists.',
  },
  ParentNotFound: {
    group: 'specification',
    meaning: 'The parent of the account does not exist in the accounting database.',
    advice: 'Create it, or correct `spec.parent`. The account is written as soon as the parent exists.',
  },
  ParentCycle: {
    group: 'specification',
    meaning: 'The parent of the account is below the account itself.',
    advice: 'Correct `spec.parent` of one of the accounts in the circle.',
  },
  UserNotFound: {
    group: 'specification',
    meaning: 'Slurm does not know a user that the specification names.',
    advice: 'Make the user a member of an account first.',
  },
  ClusterNotFound: {
    group: 'specification',
    meaning: 'The accounting database does not have the cluster; the other clusters are written.',
    advice: 'Correct `spec.clusters`, or start the slurmctld of the cluster: it registers itself.',
  },
  NotAdopted: {
    group: 'specification',
    meaning:
      'It existed in Slurm before the object, so nothing is written. `status.plan` shows what would change.',
    advice: 'Set `spec.adopt` to true to take it over, or choose another name.',
  },
  Drifted: {
    group: 'slurm',
    meaning: 'Someone changed it in Slurm, and `spec.drift` is `Report`. `status.drift` names the fields.',
    advice: 'Change the specification, or set `spec.drift` to `Correct`.',
  },
  InUse: {
    group: 'inProgress',
    meaning: 'It is being deleted and jobs still use it; the message names them.',
    advice:
      'Wait for the jobs or cancel them, or set `spec.deletionPolicy` to `Orphan` to leave it in Slurm.',
  },
  NotEmpty: {
    group: 'inProgress',
    meaning:
      'The account is being deleted, and has members or accounts below it that the object never wrote.',
    advice: 'Remove them, or set `spec.deletionPolicy` to `Orphan` to leave the account in Slurm.',
  },
  DefaultAccount: {
    group: 'slurm',
    meaning: 'A member cannot leave the account: it is the default of a user who has other accounts.',
    advice: 'Set `default: true` for the user in another Account.',
  },
  Unsupported: {
    group: 'slurm',
    meaning: 'This release of Slurm cannot do it by REST.',
    advice: 'The message says what to run instead.',
  },
  DatabaseUnknown: {
    group: 'slurm',
    meaning: 'The accounting database cannot be read now, so nothing is changed in it.',
    advice: 'Check the Accounting, and the Cluster of a Controller that uses it.',
  },
} as const;
