/** Reasons of the kinds whose objects declare rows of Slurm; part of the table in `reasons.ts`. */
export const rowReasons = {
  QosNotFound: {
    group: 'specification',
    meaning: 'A QOS that the specification names does not exist in the accounting database.',
    advice: 'Create it, or correct the name. It is written as soon as the QOS exists.',
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
