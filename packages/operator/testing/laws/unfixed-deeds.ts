/** Deeds after which the operator is known to break a law; each fix takes its line away. */
export const unfixedDeeds: readonly string[] = [
  'change the hostname',
  'slurmctld loses its state',
  'change the scaling mode',
  'change the update strategy',
];
