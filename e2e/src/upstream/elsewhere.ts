/** Daemons that hybrid users run outside of the cluster: here pods of another namespace, which no operator knows. */
import { mariadb, neighbour } from '@slurm-operator/demo/install';
import { imageTag, type SlurmVersion } from '@slurm-operator/images';
import { type Keys, secretsOf } from './custom-resources.ts';
import { slurmdbdPod } from './daemons.ts';
import { siteSlurmConf, slurmdbdConf } from './slurm-files.ts';
import type { Manifest, UserClass } from './user-class.ts';

/** The database: of slurmdbd in the cluster, or of one elsewhere. */
export function database(): Manifest[] {
  const { service, deployment } = neighbour(
    mariadb({
      image: imageTag('mariadb'),
      password: { name: 'mariadb-password', key: 'password' },
      data: { emptyDir: {} },
      pod: { securityContext: { fsGroup: 999 } },
    }),
  );
  return [service, deployment] as Manifest[];
}

const serviceFor = (name: string, port: number): Manifest => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { site: name }, ports: [{ port, targetPort: port }] },
});

export function elsewhere(user: UserClass, version: SlurmVersion, keys: Keys): Manifest[] {
  const pod = (name: string, spec: object): Manifest => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { site: name } },
    spec,
  });
  if (user.slurmdbd === 'elsewhere')
    return [
      ...secretsOf(keys),
      ...database(),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'slurmdbd-conf' },
        stringData: { 'slurmdbd.conf': slurmdbdConf('slurmdbd', 'mariadb', keys.database) },
      },
      serviceFor('slurmdbd', 6819),
      pod('slurmdbd', slurmdbdPod(version, 'slurmdbd-conf')),
    ];
  if (user.slurmctld !== 'elsewhere') return [];
  const sources = [
    { configMap: { name: 'slurm-conf' } },
    { secret: { name: 'slurm-auth-slurm' } },
    { secret: { name: 'slurm-auth-jwt' } },
  ];
  return [
    ...secretsOf(keys),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'slurm-conf' },
      data: { 'slurm.conf': siteSlurmConf(user), 'cgroup.conf': 'CgroupPlugin=disabled\n' },
    },
    serviceFor('slurmctld', 6817),
    pod('slurmctld', {
      hostname: 'slurmctld',
      securityContext: { runAsUser: 401, runAsGroup: 401, fsGroup: 401 },
      containers: [
        {
          name: 'slurmctld',
          image: imageTag('slurmctld', version),
          readinessProbe: { tcpSocket: { port: 6817 }, periodSeconds: 2 },
          volumeMounts: [
            { name: 'etc', mountPath: '/etc/slurm' },
            { name: 'run', mountPath: '/run/slurmctld' },
          ],
        },
      ],
      volumes: [
        { name: 'etc', projected: { defaultMode: 0o600, sources } },
        { name: 'run', emptyDir: {} },
      ],
    }),
  ];
}
