/** What is installed to have Slurm on a cluster: custom resources, operator, database, and the cluster itself. */
import { chart, type Helm } from '@slurm-operator/charts';
import { buildImage, buildOperatorImage, imageTag, type SlurmVersion } from '@slurm-operator/images';
import type { BuildOptions } from '@slurm-operator/sandbox';
import { stringify } from 'yaml';
import type { Kubectl } from './kubectl.ts';
import { mariadb, neighbour } from './neighbour.ts';

/**
 * What Slurm needs in many containers on one small machine, as keys of slurm.conf: sizes as claimed, no control groups inside, a
 * scheduler that does not dawdle. A real cluster needs none of it.
 */
export const smallMachineConf = {
  SlurmdParameters: 'config_overrides',
  ProctrackType: 'proctrack/linuxproc',
  SchedulerParameters: 'batch_sched_delay=0,sched_interval=1,bf_interval=1',
} as const;

/** The same as lines, for `extraConf`. */
export const smallMachineLines: readonly string[] = Object.entries(smallMachineConf).map(
  ([key, value]) => `${key}=${value}`,
);

export const operatorNamespace = 'slinky';

/** Installs both releases, and waits for the operator unless told not to. */
export async function installOperator(
  helm: Helm,
  values: object,
  { namespace = operatorNamespace, wait = true }: { namespace?: string; wait?: boolean } = {},
): Promise<void> {
  const place = ['--namespace', namespace, '--create-namespace'];
  await helm.run(['upgrade', '--install', 'slurm-operator-crds', chart('slurm-operator-crds'), ...place]);
  await helm.run([
    'upgrade',
    '--install',
    'slurm-operator',
    chart('slurm-operator'),
    ...place,
    '--values',
    await helm.file(values),
    ...(wait ? ['--wait', '--timeout', '4m'] : []),
  ]);
}

export async function installSlurm(
  helm: Helm,
  options: {
    readonly release: string;
    readonly namespace: string;
    readonly values: object;
    /** Files that are laid over them, the last one wins. */
    readonly valuesFiles?: readonly string[];
  },
): Promise<string> {
  const { release, namespace, values, valuesFiles = [] } = options;
  const { stdout } = await helm.run([
    'upgrade',
    '--install',
    release,
    chart('slurm'),
    '--namespace',
    namespace,
    '--create-namespace',
    '--values',
    await helm.file(values),
    ...valuesFiles.flatMap((file) => ['--values', file]),
  ]);
  return stdout;
}

/** For trying out: its data goes with its pod. */
export async function installMariadb(
  kubectl: Kubectl,
  namespace: string,
  password: string,
  inRegistry: (image: string) => string,
): Promise<void> {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'mariadb-password' },
    stringData: { password },
  };
  const { service, deployment } = neighbour(
    mariadb({
      image: inRegistry(imageTag('mariadb')),
      password: { name: secret.metadata.name, key: 'password' },
      data: { emptyDir: {} },
    }),
  );
  await kubectl.run(['create', 'namespace', namespace], { allowFailure: true });
  await kubectl.run(['--namespace', namespace, 'apply', '-f', '-'], {
    input: [secret, service, deployment].map((object) => stringify(object, { version: '1.1' })).join('---\n'),
  });
}

/** Values of the chart for many containers on one small machine. */
export const smallMachine = {
  configFiles: { 'cgroup.conf': 'CgroupPlugin=disabled\n' },
  controller: {
    extraConfMap: {
      ...smallMachineConf,
      TaskPlugin: 'task/none',
      // Processors only: by default a job that says nothing about memory takes all of its node's.
      SelectTypeParameters: 'CR_CPU',
      JobAcctGatherType: 'jobacct_gather/none',
      SlurmdTimeout: 60,
    },
  },
} as const;

export const slurmDaemons = ['slurmctld', 'slurmrestd', 'slurmd', 'slurmdbd', 'login'] as const;

/** Archives of all that a whole installation runs: the daemons of Slurm, a database for them, and the operator. Needs root. */
export async function installedImages(version: SlurmVersion, options: BuildOptions = {}): Promise<string[]> {
  const paths: string[] = [];
  for (const daemon of slurmDaemons) paths.push((await buildImage(daemon, version, options)).path);
  paths.push((await buildImage('mariadb', undefined, options)).path);
  paths.push((await buildOperatorImage(options)).path);
  return paths;
}
