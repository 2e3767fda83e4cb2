/** A quota that refuses new pods: the status of a ReplicaSet and a StatefulSet goes on saying how many there are. */
import { after, before, test } from 'node:test';
import { type Client, pods } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { type ControlPlane, startControlPlane } from '../../testing/control-plane.ts';

let plane: ControlPlane;
let client: Client;
before(async () => {
  plane = await startControlPlane();
  client = plane.createClient();
});
after(async () => {
  client.close();
  await plane.stop();
});

const namespace = 'default';

for (const kind of ['ReplicaSet', 'StatefulSet'])
  test(`${kind}: pods that a quota refuses are not counted`, async () => {
    const app = kind.toLowerCase();
    const labels = { app };
    const path = `/apis/apps/v1/namespaces/${namespace}/${app}s`;
    const spec = {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'x' }] } },
      ...(kind === 'StatefulSet' ? { serviceName: app } : {}),
    };
    await client.json('POST', path, {
      body: { apiVersion: 'apps/v1', kind, metadata: { name: app }, spec },
    });
    const counts = (replicas: number) =>
      until(`${kind} counts ${replicas}`, async () => {
        const set = await client.json<{ status?: { replicas?: number } }>('GET', `${path}/${app}`);
        return set.status?.replicas === replicas;
      });
    await counts(1);
    const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`;
    const body = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none' },
      spec: { hard: { pods: '0' } },
    };
    await client.json('POST', quotas, { body });
    const { items } = await client.list(pods, { namespace, labelSelector: `app=${app}` });
    for (const { metadata } of items) await client.delete(pods, metadata, { gracePeriodSeconds: 0 });
    await counts(0);
    await client.json('DELETE', `${quotas}/none`);
    await counts(1);
  });
