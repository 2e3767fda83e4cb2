/** rollout undo on an embedded API server. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { label } from '@slurm-operator/api';
import { controllerReference, controllerRevisions } from '@slurm-operator/kube';
import { CliWorld } from '../../testing/cli-world.ts';
import { nodeSets } from '../session/resources.ts';

let world: CliWorld;
before(async () => {
  world = await CliWorld.start();
});
after(() => world.stop());

const ref = { namespace: 'hpc', name: 'gpu' };
const undo = () => world.run(['rollout', 'undo', 'gpu', '-n', 'hpc']);
const imageNow = async () => (await world.client.get(nodeSets, ref)).spec.slurmd?.image;
const setImage = (image: string) => world.client.mergePatch(nodeSets, ref, { spec: { slurmd: { image } } });

/** As the operator records it. */
async function record(image: string, revision: number): Promise<void> {
  const owner = await world.client.get(nodeSets, ref);
  await world.client.create(controllerRevisions, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `gpu-${image}`,
      namespace: 'hpc',
      labels: { [label.revision]: image },
      ownerReferences: [controllerReference(owner)],
    },
    data: { spec: { slurmd: { image } } },
    revision,
  });
}

test('undo right after a change does not go back too far', async () => {
  await world.observeNodeSet();
  assert.match((await undo()).err, /NodeSet gpu has no earlier revision/);

  await record('older', 1);
  await record('good', 2);
  await setImage('good');
  await world.observeNodeSet({ nodeSetHash: 'good' });
  await setImage('bad');
  const early = await undo();
  assert.deepEqual([early.code, await imageNow()], [2, 'bad'], early.err);
  assert.match(
    early.err,
    /^kubectl slurm: The operator has not seen the newest change of NodeSet gpu yet.*try again.*\n$/,
  );

  await record('bad', 3);
  await world.observeNodeSet({ nodeSetHash: 'bad' });
  const { code, out, err } = await undo();
  assert.deepEqual([code, await imageNow()], [0, 'good'], err);
  assert.match(out, /rolled back to revision 2/);
});
