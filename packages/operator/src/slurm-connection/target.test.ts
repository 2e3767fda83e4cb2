import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster, aController, aRestApi } from '../../testing/objects.ts';
import { resolveTarget } from './target.ts';

const serviceHost = (service: string) => `${service}.hpc.svc.cluster.local`;
const around = (over: object = {}) => ({
  controller: aController(),
  restApis: [aRestApi()],
  serviceHost,
  ...over,
});

test('a Controller’s Cluster is reached through its RestApi, with tokens signed by its key', () => {
  assert.deepEqual(resolveTarget(aCluster(), around()), {
    server: 'http://slurm-restapi.hpc.svc.cluster.local:6820',
    credential: { kind: 'key', secret: { name: 'slurm-jwt', key: 'jwt.key' } },
    ca: undefined,
    username: 'slurm',
  });
});

test('the oldest RestApi serves, then the one whose name comes first; a custom port counts', () => {
  const restApis = [
    aRestApi({ service: { port: 80 } }, { name: 'b', creationTimestamp: '2026-01-01T00:00:00Z' }),
    aRestApi({}, { name: 'young', creationTimestamp: '2026-01-02T00:00:00Z' }),
    aRestApi({}, { name: 'c', creationTimestamp: '2026-01-01T00:00:00Z' }),
    aRestApi({ controllerRef: { name: 'other' } }, { name: 'a', creationTimestamp: '2020-01-01T00:00:00Z' }),
  ];
  const target = resolveTarget(aCluster(), around({ restApis }));
  assert.equal('server' in target && target.server, 'http://b-restapi.hpc.svc.cluster.local:80');
});

test('the old spelling of the JWT key is used when it is the only one', () => {
  const old = { name: 'old', key: 'k' };
  const controller = aController({ jwtKeyRef: undefined, jwtHs256KeyRef: old });
  const target = resolveTarget(aCluster(), around({ controller }));
  assert.deepEqual('credential' in target && target.credential, { kind: 'key', secret: old });
});

test('a Slurm elsewhere is reached as written, with the token of either spelling', () => {
  const token = { name: 'token', key: 'SLURM_JWT' };
  for (const spec of [{ tokenSecretRef: { name: 'token' } }, { token: { secretRef: { name: 'token' } } }]) {
    const target = resolveTarget(aCluster({ server: 'https://x:1', username: 'op', ...spec }), around());
    assert.deepEqual(target, {
      server: 'https://x:1',
      credential: { kind: 'token', secret: token },
      ca: undefined,
      username: 'op',
    });
  }
});

test('names what is missing; a retry would not help', () => {
  const cases = [
    { over: { controller: undefined }, reason: 'ControllerNotFound' },
    { over: { restApis: [] }, reason: 'RestApiNotFound' },
    { over: { controller: aController({ jwtKeyRef: undefined }) }, reason: 'InvalidSpec' },
  ];
  for (const { over, reason } of cases) {
    const target = resolveTarget(aCluster(), around(over));
    assert.ok('class' in target);
    assert.deepEqual([target.class, target.reason], ['configuration', reason]);
  }
});
