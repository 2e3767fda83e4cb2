/** Users of upstream who move, by what they run; and the names of their objects. */

export interface UserClass {
  /** Also the namespace of its cluster. */
  readonly name: string;
  /** Where slurmctld runs: one pod, two on a shared claim, or outside of the cluster. */
  readonly slurmctld: 'one' | 'two' | 'elsewhere';
  /** Where slurmdbd runs. */
  readonly slurmdbd: 'none' | 'here' | 'elsewhere';
  /** What follows the move: upstream takes its objects back, or the chart of this project takes the release. */
  readonly afterwards: 'back' | 'chart';
}

export const userClasses: readonly UserClass[] = [
  { name: 'plain', slurmctld: 'one', slurmdbd: 'none', afterwards: 'back' },
  { name: 'accounting', slurmctld: 'one', slurmdbd: 'here', afterwards: 'back' },
  { name: 'high-availability', slurmctld: 'two', slurmdbd: 'none', afterwards: 'back' },
  { name: 'external-slurmctld', slurmctld: 'elsewhere', slurmdbd: 'none', afterwards: 'back' },
  { name: 'chart-upgrade', slurmctld: 'one', slurmdbd: 'none', afterwards: 'chart' },
  { name: 'external-slurmdbd', slurmctld: 'one', slurmdbd: 'elsewhere', afterwards: 'back' },
];

/** The namespace of the daemons that run outside of a cluster. */
export const elsewhereOf = ({ name }: UserClass): string => `${name}-site`;

/** The stem of the workers' names in Slurm, and so the name of their partition. */
export const workerStem = 'compute';
export const workerCount = 2;

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly generateName?: string;
  };
  /** The custom resource that owns it, as kind; its controller unless it is a Service or budget of all NodeSets. */
  readonly owner?: 'Controller' | 'RestApi' | 'Accounting' | 'NodeSet' | 'shared by NodeSets';
  readonly [field: string]: unknown;
}

/** Names that upstream's chart gives for the release `slurm`. */
export const objectName: Readonly<Record<string, string>> = {
  Controller: 'slurm',
  RestApi: 'slurm',
  Accounting: 'slurm',
  NodeSet: `slurm-worker-${workerStem}`,
};

/** On every custom resource and pod template of upstream's chart. */
export const chartLabels = {
  'helm.sh/chart': 'slurm-1.2.1',
  'app.kubernetes.io/version': '26.05',
  'app.kubernetes.io/part-of': 'slurm',
  'app.kubernetes.io/managed-by': 'Helm',
};

export const selectorOf = (name: string, instance: string) => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/instance': instance,
});
