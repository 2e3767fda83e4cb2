/**
 * The same recordings on a Kubernetes that is given: KUBECONFIG, or KUBEBUILDER_ASSETS with binaries. Only in namespaces
 * that the run makes and removes; what others could notice is left out unless ALLOW_DISRUPTIVE=1.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { recordedCases } from './contract/case.ts';
import type { Outcome } from './contract/cluster-run.ts';
import { type GivenBackend, givenBackend } from './contract/given-backend.ts';

const kubeconfig = process.env['KUBECONFIG'];
const assets = process.env['KUBEBUILDER_ASSETS'];
let given: GivenBackend | undefined;

before(async () => {
  const allowDisruptive = process.env['ALLOW_DISRUPTIVE'] === '1';
  given = await givenBackend({ kubeconfig, assets, allowDisruptive });
});
after(() => given?.stop());

if (kubeconfig === undefined && assets === undefined)
  test('recorded exchanges on a real Kubernetes', (t) =>
    t.skip('no cluster is given: set KUBECONFIG, or KUBEBUILDER_ASSETS to a directory with kube-apiserver'));
else
  test('recorded exchanges on a real Kubernetes', async (t) => {
    assert.ok(given);
    const tell = (name: string, outcome: Outcome) =>
      t.test(name, (one) => {
        if (outcome.result === 'not run') one.skip(outcome.why);
        else if (outcome.result === 'failed') assert.fail(outcome.why);
      });
    await given.replayAll(recordedCases(), (recorded, outcome) => tell(recorded.name, outcome));
  });
