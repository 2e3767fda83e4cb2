/** Which Pod Security profile each kind of pod needs: what docs/security.md says, asked of an API server that enforces it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deployments, type KubeObject, namespaces, type Resource, statefulSets } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import {
  aController,
  aLoginSet,
  aNodeSet,
  anAccounting,
  aRestApi,
  operatorDefaults,
} from '../../testing/objects.ts';
import { type Manifest, type OperatorWorld, startOperatorWorld } from '../../testing/operator-world.ts';
import { accountings, controllers, loginSets, restApis } from '../cache/resources.ts';
import { workerTemplate } from '../kinds/nodeset/objects/worker-template.ts';
import { buildTrialPod } from '../slurm-config/trial/config-check.ts';

const profiles = ['restricted', 'baseline', 'privileged'] as const;
const namespace = 'hpc';
let world: OperatorWorld;

before(async () => {
  world = await startOperatorWorld();
  await world.operate();
  for (const profile of profiles)
    await world.client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: profile, labels: { 'pod-security.kubernetes.io/enforce': profile } },
    });
  for (const [name, key] of [
    ['slurm-auth', 'slurm.key'],
    ['slurm-jwt', 'jwt.key'],
    ['mariadb', 'password'],
    ['sssd', 'sssd.conf'],
  ] as const)
    await world.putSecret(name, key, 'k'.repeat(64));
});
after(() => world.stop());

/** The strictest profile whose namespace takes the pod. */
async function leastProfile(spec: object): Promise<string> {
  for (const profile of profiles) {
    const { status, body } = await world.client.transport.request({
      method: 'POST',
      path: `/api/v1/namespaces/${profile}/pods?dryRun=All`,
      headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }),
      doing: 'try a pod',
    });
    if (status === 201) return profile;
    const message = body.toString('utf8');
    assert.match(message, /violates PodSecurity/, message);
  }
  return 'none';
}

async function templateOf<T extends KubeObject>(
  resource: Resource<T>,
  object: Manifest,
  workload: typeof statefulSets | typeof deployments,
  name: string,
): Promise<object> {
  await world.put(resource, object);
  const found = await until(name, () =>
    world.client.find(workload as typeof statefulSets, { namespace, name }),
  );
  return found.spec?.template?.spec ?? {};
}

const seccomp = { template: { spec: { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } } } };

const daemons = [
  {
    what: 'slurmctld',
    made: (more: object) =>
      // Its state on no volume of its own: a bare pod has none.
      templateOf(
        controllers,
        aController({ persistence: { enabled: false }, ...more }, { name: 'c' }),
        statefulSets,
        'c-controller',
      ),
  },
  {
    what: 'slurmdbd',
    made: (more: object) =>
      templateOf(accountings, anAccounting(more, { name: 'c' }), statefulSets, 'c-accounting'),
  },
  {
    what: 'slurmrestd',
    made: (more: object) =>
      templateOf(
        restApis,
        aRestApi({ controllerRef: { name: 'c' }, ...more }, { name: 'c' }),
        deployments,
        'c-restapi',
      ),
  },
] as const;

for (const { what, made } of daemons)
  test(`${what} keeps to the restricted profile`, async () => {
    assert.equal(await leastProfile(await made(seccomp)), 'restricted');
  });

test('the trial of a configuration keeps to the profile of slurmctld', async () => {
  const { spec } = buildTrialPod({
    controller: aController(seccomp),
    defaults: operatorDefaults,
    digest: 'd',
    rendered: ['image.check.slurm.conf'],
  });
  assert.equal(await leastProfile(spec ?? {}), 'restricted');
});

test('login nodes keep to the baseline profile', async () => {
  const login = aLoginSet({ controllerRef: { name: 'c' } }, { name: 'l' });
  assert.equal(await leastProfile(await templateOf(loginSets, login, deployments, 'l')), 'baseline');
});

test('workers are privileged unless told otherwise, and baseline then', async () => {
  const defaults = { ...operatorDefaults, defaultImage: operatorDefaults.images.slurmd };
  const podOf = (more: object) => workerTemplate(aNodeSet(more), aController(), defaults).spec;
  assert.equal(await leastProfile(podOf({})), 'privileged');
  assert.equal(await leastProfile(podOf({ slurmd: { securityContext: { privileged: false } } })), 'baseline');
});
