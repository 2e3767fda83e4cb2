/** diff --try: the pod and its ConfigMap, what its end means, and that nothing is left behind. slurmctld itself is tried on localcluster. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { configMaps, type Live, type Pod, pods } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { CliWorld, type Ran } from '../../testing/cli-world.ts';
import { controllers } from '../session/resources.ts';

let world: CliWorld;
const directory = mkdtempSync(join(tmpdir(), 'kubectl-slurm-try-'));
const file = join(directory, 'controller.json');
const spec = {
  slurmKeyRef: { name: 'slurm-auth', key: 'slurm.key' },
  jwtKeyRef: { name: 'slurm-jwt', key: 'jwt.key' },
  slurmctld: { image: 'slurmctld:26.05' },
};
const object = (extraConf: string) => ({
  apiVersion: controllers.apiVersion,
  kind: 'Controller',
  metadata: { name: 'slurm', namespace: 'hpc' },
  spec: { ...spec, extraConf },
});

before(async () => {
  world = await CliWorld.start();
  await world.client.create(controllers, object('') as never);
  writeFileSync(file, JSON.stringify(object('PartitionName=new Nodes=ALL')));
});
after(async () => {
  rmSync(directory, { recursive: true, force: true });
  await world.stop();
});

const trialPods = async () =>
  (
    await world.client.list(pods, {
      namespace: 'hpc',
      labelSelector: 'app.kubernetes.io/name=config-try',
    })
  ).items;

/** Runs the command, and gives its pod this status. */
async function tried(status: object): Promise<{ readonly ran: Ran; readonly pod: Live<Pod> }> {
  const running = world.run(['diff', '-f', file, '--try', '-n', 'hpc'], {
    user: 'admin',
    env: { SLURM_JWT: world.slurm.token('root') },
  });
  const pod = await until('its pod', async () => (await trialPods())[0]);
  const name = pod.metadata.name;
  const map = await world.client.get(configMaps, { namespace: 'hpc', name });
  assert.match(map.data?.['image.check.slurm.conf'] ?? '', /PartitionName=new/);
  const sources = pod.spec?.volumes?.flatMap(({ projected }) => projected?.sources ?? []) ?? [];
  assert.ok(sources.some(({ configMap }) => configMap?.name === name));
  await world.client.mergePatch(pods, { namespace: 'hpc', name }, { status }, { subresource: 'status' });
  const ran = await running;
  await until('its pod is gone', async () => (await trialPods()).length === 0);
  assert.equal(await world.client.find(configMaps, { namespace: 'hpc', name }), undefined);
  return { ran, pod };
}

const ended = (phase: string, exitCode: number, message = '') => ({
  phase,
  containerStatuses: [
    {
      name: 'slurmctld',
      image: '',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: {
        terminated: {
          exitCode,
          message,
          startedAt: '2026-01-01T00:00:00Z',
          finishedAt: '2026-01-01T00:00:03Z',
        },
      },
    },
  ],
});

test('what slurmctld accepts, in a pod that the operator does not take for its own', async () => {
  const { ran, pod } = await tried(ended('Succeeded', 0));
  assert.match(ran.out, /✔ tried: slurmctld \(slurmctld:26\.05\) accepts it, in 3 s\./, ran.err);
  assert.equal(ran.code, 1, 'there is a difference');
  assert.notEqual(pod.metadata.labels?.['app.kubernetes.io/name'], 'config-check');
  assert.equal(pod.spec?.automountServiceAccountToken, false);
  assert.ok((pod.spec?.activeDeadlineSeconds ?? Number.POSITIVE_INFINITY) <= 600);
});

test('what slurmctld rejects, in its own words', async () => {
  const { ran } = await tried(ended('Failed', 1, 'slurmctld failed error: Parsing error at x\u001b[2J'));
  assert.match(ran.out, /✖ tried: slurmctld .* rejects it:\n {2}error: Parsing error at x\\x1b\[2J/);
  assert.equal(ran.code, 1);
});

test('a pod without a result is no answer: exit code 2', async () => {
  const { ran } = await tried(ended('Failed', 3, 'slurmctld did not start within a minute'));
  assert.deepEqual([ran.code, ran.out], [2, '']);
  assert.match(ran.err, /The trial has no result: slurmctld did not start within a minute/);
});

test('nothing to try: no pod is created', async () => {
  writeFileSync(join(directory, 'same.json'), JSON.stringify(object('')));
  const same = await world.run(['diff', '-f', join(directory, 'same.json'), '--try', '-n', 'hpc']);
  assert.match(same.err, /nothing to try/);
  assert.deepEqual([same.code, (await trialPods()).length], [0, 0]);
});
