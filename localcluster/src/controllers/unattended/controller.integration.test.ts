import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Client } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { type ControlPlane, startControlPlane } from '../../../testing/control-plane.ts';

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

interface EventList {
  readonly items: readonly {
    reason: string;
    note: string;
    type: string;
    regarding: { kind: string; name: string };
  }[];
}

const byKind = ([a]: readonly string[], [b]: readonly string[]) => (a ?? '').localeCompare(b ?? '');

const template = {
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', image: 'x' }] },
};

test('records an event for an object that no controller handles', async () => {
  const metadata = { name: 'x', namespace: 'default' };
  const selector = { matchLabels: { app: 'x' } };
  await client.json('POST', '/apis/apps/v1/namespaces/default/daemonsets', {
    body: { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: { selector, template } },
  });
  const job = { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } } };
  await client.json('POST', '/apis/batch/v1/namespaces/default/cronjobs', {
    body: {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata,
      spec: { schedule: '* * * * *', jobTemplate: job },
    },
  });
  await client.json('POST', '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies', {
    body: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata, spec: { podSelector: {} } },
  });
  const wanted = new Map([
    ['DaemonSet', 'localcluster stores this DaemonSet only: no pod is made from it'],
    ['CronJob', 'localcluster stores this CronJob only: no Job is made from it'],
    ['NetworkPolicy', 'localcluster stores this NetworkPolicy only: all traffic stays allowed'],
  ]);
  const told = async () => {
    const { items } = await client.json<EventList>('GET', '/apis/events.k8s.io/v1/namespaces/default/events');
    const events = items.filter(({ reason }) => reason === 'NotActedOn');
    return new Map(events.map(({ regarding, note }) => [regarding.kind, note]));
  };
  await until('an event for each', async () => (await told()).size === wanted.size);
  assert.deepEqual(new Map([...(await told())].toSorted(byKind)), new Map([...wanted].toSorted(byKind)));
});
