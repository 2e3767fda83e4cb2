/** What builders need to know of the world that no custom resource says. */
export interface OperatorDefaults {
  /** The domain of Services, `cluster.local` nearly everywhere. */
  readonly clusterDomain: string;
  /** Images for containers whose custom resource names none. */
  /** Milliseconds from the notification of a worker until its slurmd has read new keys for certain. */
  readonly keysReadWithin: number;
  readonly images: Readonly<Record<'slurmctld' | 'slurmd' | 'slurmdbd' | 'slurmrestd' | 'login', string>>;
}
