/** The release of a user: a chart that renders what upstream's does, and the values for the chart of this project. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageName, SlurmVersion } from '@slurm-operator/images';
import { scratchDirectory } from '@slurm-operator/sandbox';
import { stringify } from 'yaml';
import { likeUpstreamsImage } from './custom-resources.ts';
import { extraConf } from './slurm-files.ts';
import { type Manifest, type UserClass, workerStem } from './user-class.ts';

/** The directory of a chart with these objects. */
export async function writeUpstreamsChart(manifests: readonly Manifest[]): Promise<string> {
  const directory = scratchDirectory('upstreams-chart');
  await mkdir(join(directory, 'templates'), { recursive: true });
  await writeFile(
    join(directory, 'Chart.yaml'),
    stringify({ apiVersion: 'v2', name: 'slurm', version: '1.2.1' }, { version: '1.1' }),
  );
  const text = manifests.map((manifest) => stringify(manifest, { version: '1.1' })).join('---\n');
  await writeFile(join(directory, 'templates', 'all.yaml'), text);
  return directory;
}

export function chartValues(user: UserClass, version: SlurmVersion, replicas: number): object {
  const image = (name: ImageName) => ({ image: { repository: `slurm-operator/${name}`, tag: version } });
  const podSpec = { nodeSelector: { 'kubernetes.io/os': 'linux' } };
  return {
    configFiles: { 'cgroup.conf': 'CgroupPlugin=disabled\n' },
    controller: {
      slurmctld: image('slurmctld'),
      extraConf,
      persistence: {
        enabled: true,
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
      podSpec,
    },
    restapi: { replicas: 1, slurmrestd: image('slurmrestd') },
    ...(user.slurmdbd === 'here'
      ? {
          accounting: {
            enabled: true,
            slurmdbd: image('slurmdbd'),
            storageConfig: {
              host: 'mariadb',
              port: 3306,
              database: 'slurm_acct_db',
              username: 'slurm',
              passwordKeyRef: { name: 'mariadb-password', key: 'password' },
            },
          },
        }
      : {}),
    nodesets: {
      [workerStem]: {
        enabled: true,
        replicas,
        slurmd: { ...image('slurmd'), command: likeUpstreamsImage },
        extraConf: 'Weight=5',
        partition: { enabled: true, config: 'State=UP MaxTime=UNLIMITED' },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%' } },
        podSpec,
      },
    },
  };
}
