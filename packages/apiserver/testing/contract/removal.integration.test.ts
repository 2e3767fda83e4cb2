/** What a case leaves in its namespace must not keep the namespace. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApiServer } from '../../src/server.ts';
import { Caller } from './backend.ts';
import type { RecordedCase } from './case.ts';
import { removeNamespace } from './removal.ts';

test('takes finalizers that a case invented off its objects, and leaves those of controllers', async () => {
  const server = await startApiServer();
  const caller = new Caller({
    name: 'lent',
    url: server.url,
    caPem: server.caPem,
    certificatePem: server.admin.certificatePem,
    keyPem: server.admin.keyPem,
    controllers: true,
  });
  try {
    const namespace = { metadata: { name: 'crud' } };
    await caller.call({ method: 'POST', path: '/api/v1/namespaces', body: namespace });
    const path = '/api/v1/namespaces/crud/configmaps';
    const body = {
      metadata: { name: 'a', finalizers: ['example.org/hold', 'kubernetes.io/pvc-protection'] },
    };
    assert.equal((await caller.call({ method: 'POST', path, body })).status, 201);
    const recorded: RecordedCase = {
      name: 'crud/99',
      why: '',
      steps: [{ request: { method: 'POST', path, body }, status: 201 }],
    };
    await removeNamespace(caller, 'crud', [recorded]);
    const { text } = await caller.call({ method: 'GET', path: `${path}/a` });
    const left = JSON.parse(text) as { metadata: { finalizers: string[] } };
    assert.deepEqual(left.metadata.finalizers, ['kubernetes.io/pvc-protection']);
  } finally {
    caller.close();
    await server.stop();
  }
});
