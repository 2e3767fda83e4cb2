/** What Accounting and LoginSet refer to, there from the beginning: images, a database, and Secrets. */

import { mariadb, neighbour } from '@slurm-operator/demo/install';
import { buildImage, imageTag } from '@slurm-operator/images';
import { deployments, draftOf, secrets, services } from '@slurm-operator/kube';
import { namespace, type SlurmStage } from '../slurm-stage.ts';

/** Users of the image itself: no user logs in during the soak. */
const sssdConf = [
  '[sssd]',
  'services = nss, pam',
  'domains = local',
  '[domain/local]',
  'id_provider = proxy',
  'proxy_lib_name = files',
  'proxy_pam_target = login',
  '',
].join('\n');

export async function beside({ client, staged, version }: SlurmStage): Promise<void> {
  for (const name of ['slurmdbd', 'login'] as const)
    await staged.loadImage((await buildImage(name, version)).path);
  await staged.loadImage((await buildImage('mariadb')).path);
  const values = { mariadb: { password: 'a password' }, sssd: { 'sssd.conf': sssdConf } };
  for (const [name, stringData] of Object.entries(values))
    await client.create(
      secrets,
      draftOf(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace },
        stringData,
      }),
    );
  const { service, deployment } = neighbour(
    mariadb({
      image: imageTag('mariadb'),
      password: { name: 'mariadb', key: 'password' },
      data: { emptyDir: {} },
      pod: { securityContext: { fsGroup: 999 } },
    }),
  );
  await client.create(services, draftOf(services, inNamespace(service)));
  await client.create(deployments, draftOf(deployments, inNamespace(deployment)));
}

const inNamespace = (object: object) => {
  const { metadata } = object as { metadata: object };
  return { ...object, metadata: { ...metadata, namespace } };
};
