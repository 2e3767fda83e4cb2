/** The suite on a lent cluster (here another embedded server): cases do not get in each other's way, and nothing stays. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApiServer } from '../../src/server.ts';
import { type Backend, Caller } from './backend.ts';
import { recordedCases } from './case.ts';
import { ClusterRun } from './cluster-run.ts';

async function lend() {
  const server = await startApiServer();
  const backend: Backend = {
    name: 'lent',
    url: server.url,
    caPem: server.caPem,
    certificatePem: server.admin.certificatePem,
    keyPem: server.admin.keyPem,
    embedded: server,
    controllers: false,
  };
  const left = () =>
    server.store
      .resources()
      .filter((resource) => /customresourcedefinitions|webhookconfigurations|example\.org/.test(resource));
  return { server, backend, left };
}

test('cases that make the same custom kind, build on each other or set up webhooks leave nothing behind', async () => {
  const { server, backend, left } = await lend();
  try {
    const run = await ClusterRun.start(backend, true);
    for (const recorded of recordedCases(
      'apply/25',
      'apply/26',
      'admission/01',
      'admission/02',
      'crd/01',
      'crd/02',
    ))
      assert.deepEqual(await run.replay(recorded), { result: 'passed' }, recorded.name);
    await run.stop();
    assert.deepEqual(left(), []);
  } finally {
    await server.stop();
  }
});

test('what is there already is not ours: it is neither used nor removed', async () => {
  const { server, backend, left } = await lend();
  try {
    const [foundation] = recordedCases('crd/01');
    assert.ok(foundation !== undefined);
    const owner = new Caller(backend);
    const body =
      foundation.setup?.[0]?.body ?? foundation.steps.find((step) => step.status === 201)?.request?.body;
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    assert.equal((await owner.call({ method: 'POST', path, body })).status, 201);
    owner.close();
    const before = left();
    const run = await ClusterRun.start(backend, true);
    const outcome = await run.replay(foundation);
    assert.ok(outcome.result === 'not run' && /not ours to write to/.test(outcome.why), outcome.result);
    await run.stop();
    assert.deepEqual(left(), before);
  } finally {
    await server.stop();
  }
});
