/** Two operators on one API server, each for namespaces of its own: the way past what one carries (docs/performance.md). */
import assert from 'node:assert/strict';
import { after, before as beforeAll, test } from 'node:test';
import { configMaps, namespaces, type Resource, services } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { aController } from '../../testing/objects.ts';
import {
  type OperatorWorld,
  type RunningOperator,
  startOperatorWorld,
} from '../../testing/operator-world.ts';
import { clusters, controllers } from '../cache/resources.ts';

const teams = ['team-a', 'team-b'] as const;
type Team = (typeof teams)[number];
let world: OperatorWorld;
const operators = new Map<Team, RunningOperator>();

beforeAll(async () => {
  world = await startOperatorWorld();
  for (const team of teams) {
    await world.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: team } });
    const name = `slurm-operator-${team}`;
    operators.set(team, await world.operate({}, { namespaces: [team], name }));
  }
});
after(() => world.stop());

/** Namespaces that the operator of a team has written to. */
const written = (team: Team) =>
  new Set(
    world
      .writes()
      .filter(({ userAgent }) => userAgent.startsWith(`slurm-operator-${team}`))
      .map((entry) => entry.namespace),
  );
const hasCluster = (team: Team, name: string) =>
  until(`the Cluster ${name} of ${team}`, () => world.client.find(clusters, { namespace: team, name }));

test('each serves its own namespaces, and neither reads or writes those of the other', async () => {
  for (const team of teams) await world.put(controllers, aController(), { namespace: team });
  for (const team of teams) {
    await hasCluster(team, 'slurm');
    await until('the Service', () =>
      world.client.find(services, { namespace: team, name: 'slurm-controller' }),
    );
    await until('slurm.conf', () => world.client.find(configMaps, { namespace: team, name: 'slurm-config' }));
  }
  await world.settled();
  for (const team of teams) assert.deepEqual([...written(team)], [team]);
});

test('what stops one does not stop the other, and its clusters wait for it', async () => {
  await operators.get('team-a')?.stop();
  for (const team of teams) await world.put(controllers, aController(), { namespace: team, name: 'second' });
  await hasCluster('team-b', 'second');
  await world.settled();
  assert.equal(await world.client.find(clusters, { namespace: 'team-a', name: 'second' }), undefined);
  operators.set('team-a', await world.operate({}, { namespaces: ['team-a'], name: 'slurm-operator-team-a' }));
  await hasCluster('team-a', 'second');
});

test('a namespace that moves to the other operator keeps its objects as they are', async () => {
  for (const operator of operators.values()) await operator.stop();
  const versions = async () => {
    const lists = [services, configMaps, clusters].map((resource) =>
      world.client.list(resource as Resource, { namespace: 'team-a' }),
    );
    const objects = (await Promise.all(lists)).flatMap(({ items }) => items);
    return new Map(objects.map(({ metadata: { uid, generation } }) => [uid, generation]));
  };
  const before = await versions();
  assert.ok(before.size >= 6);
  await world.operate({}, { namespaces: [...teams], name: 'slurm-operator-team-b' });
  await until('the other operator to write there', () => written('team-b').has('team-a') || undefined);
  await world.settled();
  assert.deepEqual(await versions(), before);
});
