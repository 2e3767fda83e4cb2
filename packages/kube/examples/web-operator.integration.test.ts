/** Runs the example on the embedded API server. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { startApiServer } from '@slurm-operator/apiserver';
import {
  createClient,
  customResourceDefinitions,
  deployments,
  type KubeObject,
  kubeconfigConfig,
  services,
} from '../src/index.ts';
import { until } from '../testing/index.ts';
import { webOperator, webs } from './web-operator.ts';

test('creates a Deployment and a Service, restores them, follows the spec, and reports status', async (t) => {
  const server = await startApiServer();
  const config = await kubeconfigConfig({ text: server.kubeconfig() });
  const user = createClient(config, { rateLimit: false });
  const stop = new AbortController();
  t.after(async () => {
    user.close();
    await server.stop();
  });
  await user.create(customResourceDefinitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'webs.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'webs', singular: 'web', kind: 'Web' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              },
            },
          },
        },
      ],
    },
  });
  await until(
    'webs are served',
    async () => (await user.find(webs, { namespace: 'default', name: 'x' }).catch(() => null)) === undefined,
  );
  const manager = await webOperator({ config, client: { rateLimit: false } });
  const running = manager.start(stop.signal);
  const ref = { namespace: 'default', name: 'shop' };
  const web = {
    apiVersion: 'example.org/v1',
    kind: 'Web',
    metadata: ref,
    spec: { image: 'shop:1', replicas: 2 },
  };
  await user.create(webs, web);
  await until('both children exist', async () => {
    const children: (KubeObject | undefined)[] = [
      await user.find(deployments, ref),
      await user.find(services, ref),
    ] as never;
    return children.every((child) => child?.metadata.ownerReferences?.[0]?.kind === 'Web');
  });
  await user.mergePatch(
    deployments,
    ref,
    { status: { readyReplicas: 2, replicas: 2 } },
    { subresource: 'status' },
  );
  await until(
    'it is Ready',
    async () => (await user.get(webs, ref)).status?.conditions?.[0]?.status === 'True',
  );

  await user.delete(services, ref);
  await until('the Service is back', async () => (await user.find(services, ref)) !== undefined);
  await user.mergePatch(webs, ref, { spec: { image: 'shop:2', port: 8080 } });
  await until('the Deployment follows', async () => {
    const [container] = (await user.get(deployments, ref)).spec?.template.spec?.containers ?? [];
    return container?.image === 'shop:2' && container.ports?.[0]?.containerPort === 8080;
  });

  // No requests while nothing changes.
  const writes = () => server.audit.count({ verb: 'patch' }) + server.audit.count({ verb: 'create' });
  await until('it has come to rest', async () => {
    const before = writes();
    await new Promise((resolve) => setTimeout(resolve, 200));
    return writes() === before;
  });
  stop.abort();
  await running;
});

test('the example is as short as it claims', () => {
  const lines = readFileSync(new URL('web-operator.ts', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n').length;
  assert.ok(lines < 80, `${lines} lines`);
});
