/**
 * The same recordings on a Kubernetes that is given: KUBECONFIG, or KUBEBUILDER_ASSETS with binaries. Only in namespaces
 * that the run makes and removes; what others could notice is left out unless ALLOW_DISRUPTIVE=1.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AssetsBackend, startAssets } from './contract/assets-backend.ts';
import { recordedCases } from './contract/case.ts';
import { ClusterRun } from './contract/cluster-run.ts';
import { givenCluster } from './contract/given-cluster.ts';

const kubeconfig = process.env['KUBECONFIG'];
const binaries = process.env['KUBEBUILDER_ASSETS'];
const given = kubeconfig ?? binaries;
let assets: AssetsBackend | undefined;
let run: ClusterRun | undefined;

before(async () => {
  if (given === undefined) return;
  if (kubeconfig === undefined) assets = await startAssets(given);
  const backend = assets?.backend ?? givenCluster(given);
  run = await ClusterRun.start(backend, process.env['ALLOW_DISRUPTIVE'] === '1' || assets !== undefined);
});
after(async () => {
  await run?.stop();
  await assets?.stop();
});

if (given === undefined)
  test('recorded exchanges on a real Kubernetes', (t) =>
    t.skip('no cluster is given: set KUBECONFIG, or KUBEBUILDER_ASSETS to a directory with kube-apiserver'));
else
  for (const recorded of recordedCases())
    test(recorded.name, async (t) => {
      assert.ok(run);
      const outcome = await run.replay(recorded);
      if (outcome.result === 'not run') t.skip(outcome.why);
      else if (outcome.result === 'failed') assert.fail(outcome.why);
    });
