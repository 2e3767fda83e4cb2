/** The policy on an API server: CEL that sees the namespace, which a CRD's rules cannot. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApiServer } from '@slurm-operator/apiserver';
import {
  createClient,
  customResourceDefinitions,
  defineResource,
  kubeconfigConfig,
  namespaces,
} from '@slurm-operator/kube';
import { clusterNamePolicy } from './cluster-name-policy.ts';
import { controllerKind } from './kinds/index.ts';
import { customResourceDefinition } from './schema/crd.ts';
import { apiVersion } from './well-known.ts';

const admission = (kind: string, plural: string) =>
  defineResource({ apiVersion: 'admissionregistration.k8s.io/v1', kind, plural, namespaced: false });
const policies = admission('ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
const bindings = admission('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings');
const controllers = defineResource({
  apiVersion,
  kind: 'Controller',
  plural: 'controllers',
  namespaced: true,
});

test('a derived ClusterName of more than 40 characters is refused by the policy, and a given one is not', async (t) => {
  const server = await startApiServer();
  const client = createClient(await kubeconfigConfig({ text: server.kubeconfig() }));
  t.after(async () => {
    client.close();
    await server.stop();
  });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fixtures' } });
  await client.create(customResourceDefinitions, customResourceDefinition(controllerKind) as never);
  const [policy, binding] = clusterNamePolicy;
  await client.create(policies, policy as never);
  await client.create(bindings, binding as never);
  // "fixtures_" and 32 more characters are 41.
  const name = 'a234567890b234567890c234567890d2';
  const key = { name: 'a', key: 'a' };
  const create = (spec: object) =>
    client.create(
      controllers,
      {
        apiVersion,
        kind: 'Controller',
        metadata: { name, namespace: 'fixtures' },
        spec: { slurmKeyRef: key, jwtKeyRef: key, ...spec },
      } as never,
      { dryRun: true },
    );
  await assert.rejects(
    create({}),
    /called fixtures_a234567890b234567890c234567890d2, which has more than 40 characters/,
  );
  await create({ clusterName: 'short' });
});
