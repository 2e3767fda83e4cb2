/** What is installed to have Slurm on a cluster: custom resources, operator, database, and the cluster itself. */
import { chart, type Helm } from '@slurm-operator/charts';
import { imageTag } from '@slurm-operator/images';
import { stringify } from 'yaml';
import type { Kubectl } from './kubectl.ts';

export const operatorNamespace = 'slinky';

/** Both releases, and (unless nobody waits) the operator at work. */
export async function installOperator(
  helm: Helm,
  values: object = {},
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
  options: { readonly release: string; readonly namespace: string; readonly values: object },
): Promise<string> {
  const { release, namespace, values } = options;
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
  ]);
  return stdout;
}

/** A MariaDB as slurmdbd wants it, with the names that the chart's defaults expect. For trying out: its data goes with its pod. */
export async function installMariadb(
  kubectl: Kubectl,
  namespace: string,
  password: string,
  inRegistry = (image: string) => image,
): Promise<void> {
  const labels = { app: 'mariadb' };
  const objects = [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mariadb-password' }, stringData: { password } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'mariadb' },
      spec: { selector: labels, ports: [{ port: 3306 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'mariadb', labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              {
                name: 'mariadb',
                image: inRegistry(imageTag('mariadb')),
                imagePullPolicy: 'IfNotPresent',
                env: [
                  { name: 'MARIADB_DATABASE', value: 'slurm_acct_db' },
                  { name: 'MARIADB_USER', value: 'slurm' },
                  {
                    name: 'MARIADB_PASSWORD',
                    valueFrom: { secretKeyRef: { name: 'mariadb-password', key: 'password' } },
                  },
                ],
                readinessProbe: { tcpSocket: { port: 3306 }, periodSeconds: 1 },
                volumeMounts: [{ name: 'data', mountPath: '/var/lib/mysql' }],
              },
            ],
            volumes: [{ name: 'data', emptyDir: {} }],
          },
        },
      },
    },
  ];
  await kubectl.run(['create', 'namespace', namespace], { allowFailure: true });
  await kubectl.run(['--namespace', namespace, 'apply', '-f', '-'], {
    input: objects.map((object) => stringify(object)).join('---\n'),
  });
}

/**
 * For many containers on one small machine: no control groups inside, sizes as claimed, a scheduler that does not dawdle.
 * A real cluster needs none of it.
 */
export const smallMachine = {
  configFiles: { 'cgroup.conf': 'CgroupPlugin=disabled\n' },
  controller: {
    extraConfMap: {
      SlurmdParameters: 'config_overrides',
      ProctrackType: 'proctrack/linuxproc',
      TaskPlugin: 'task/none',
      // Processors only: by default a job that says nothing about memory takes all of its node's.
      SelectTypeParameters: 'CR_CPU',
      JobAcctGatherType: 'jobacct_gather/none',
      SchedulerParameters: ['batch_sched_delay=0', 'sched_interval=1', 'bf_interval=1'],
      SlurmdTimeout: 60,
    },
  },
} as const;
