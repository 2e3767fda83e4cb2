/** What builders need to know of the world that no custom resource says. */
export interface OperatorDefaults {
  /** The domain of Services, `cluster.local` nearly everywhere. */
  readonly clusterDomain: string;
  /** Milliseconds between two steps of a change of slurm.key, at least. */
  readonly keyStepPeriod: number;
  /** Images for containers whose custom resource names none. */
  readonly images: Readonly<Record<'slurmctld' | 'slurmd' | 'slurmdbd' | 'slurmrestd' | 'login', string>>;
}
