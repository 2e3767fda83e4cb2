import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Backend } from './backend.ts';
import { recordedCases } from './case.ts';
import { notRunReason } from './where-it-holds.ts';

const server: Backend = { name: 'x', url: 'https://127.0.0.1:1', controllers: false };
const withControllers = { ...server, controllers: true };
const cluster = { ...withControllers, kubelets: true };

function reason(name: string, backend: Backend, allowDisruptive = true): string {
  const [recorded] = recordedCases(name);
  assert.ok(recorded !== undefined, name);
  return notRunReason(recorded, backend, allowDisruptive) ?? 'runs';
}

test('what was recorded without controllers is not run where they write to the same objects', () => {
  for (const name of ['crud/53', 'builtins/39', 'builtins/47', 'builtins/51']) {
    assert.match(reason(name, withControllers), /recorded without controllers/, name);
    assert.equal(reason(name, server), 'runs', name);
  }
  assert.equal(reason('patch/08', withControllers), 'runs', 'the first set was recorded with controllers');
});

test('pods that a scheduler would place, and what makes them, are not run where kubelets are', () => {
  assert.match(reason('builtins/01', cluster), /would take its pod/);
  assert.match(reason('controllers/08', cluster), /pods of its statefulsets/);
  assert.match(reason('builtins/12', cluster), /StorageClass/);
  assert.equal(reason('builtins/01', withControllers), 'runs');
  assert.equal(reason('patch/08', cluster), 'runs', 'only the status of a Deployment follows its pods');
  assert.equal(reason('crud/01', cluster), 'runs');
});

test('cases about controllers need them', () => {
  assert.match(reason('controllers/01', server), /no controllers/);
  assert.match(reason('admission/34', server), /no controllers/);
  assert.equal(reason('admission/34', withControllers), 'runs');
});

test('webhooks need a server on this machine, and an old etcd serves no streaming lists', () => {
  const far = { ...cluster, url: 'https://10.0.0.1' };
  assert.match(reason('admission/01', far), /cannot reach a webhook/);
  assert.match(reason('list-watch/15', { ...server, oldEtcd: true }), /3\.4\.25/);
  assert.match(reason('admission/01', cluster, false), /allow-disruptive/);
});
