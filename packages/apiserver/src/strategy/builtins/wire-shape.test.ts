import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../api/types.ts';
import { builtinSchema } from '../../schema/builtin-schemas.ts';
import { shapeForWire } from './wire-shape.ts';

function shaped(apiVersion: string, kind: string, object: object): JsonObject {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const known = builtinSchema(group ?? '', version ?? '', kind);
  assert.ok(known, `${kind} has a schema`);
  const copy = structuredClone(object) as JsonObject;
  shapeForWire(copy, known.schema, kind, version ?? '');
  return copy;
}

const cases: { reason: string; apiVersion: string; kind: string; object: object; want: object }[] = [
  {
    reason: 'empty lists and maps are as good as absent',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    object: { data: {}, binaryData: {} },
    want: {},
  },
  {
    reason: 'a truth that can be unset keeps its false',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    object: { immutable: false },
    want: { immutable: false },
  },
  {
    reason: 'a truth that cannot be unset loses its false; parts that are always there appear',
    apiVersion: 'v1',
    kind: 'Pod',
    object: { spec: { hostNetwork: false, containers: [{ name: 'c' }] } },
    want: { spec: { containers: [{ name: 'c', resources: {} }] }, status: {} },
  },
  {
    reason: 'an empty struct that was set stays set',
    apiVersion: 'v1',
    kind: 'Pod',
    object: { spec: { containers: [], volumes: [{ name: 'v', emptyDir: {} }] } },
    want: { spec: { containers: null, volumes: [{ name: 'v', emptyDir: {} }] }, status: {} },
  },
  {
    reason: 'zero replicas are not one replica',
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    object: { spec: { replicas: 0, minReadySeconds: 0, selector: {} } },
    want: {
      spec: { replicas: 0, selector: {}, template: { metadata: {}, spec: { containers: null } } },
      status: { replicas: 0 },
    },
  },
  {
    reason: 'times of conditions are null rather than absent',
    apiVersion: 'v1',
    kind: 'Node',
    object: {
      spec: {},
      status: { conditions: [{ type: 'Ready', status: 'True' }], daemonEndpoints: {}, nodeInfo: {} },
    },
    want: {
      spec: {},
      status: {
        conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: null, lastTransitionTime: null }],
        daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
        nodeInfo: {
          architecture: '',
          bootID: '',
          containerRuntimeVersion: '',
          kernelVersion: '',
          kubeProxyVersion: '',
          kubeletVersion: '',
          machineID: '',
          operatingSystem: '',
          osImage: '',
          systemUUID: '',
        },
      },
    },
  },
  {
    reason: 'quantities take their canonical text, micro times keep theirs',
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    object: { spec: { renewTime: '2026-01-02T04:04:05.000001+01:00' } },
    want: { spec: { renewTime: '2026-01-02T03:04:05.000001Z' } },
  },
  {
    reason: 'what is free of form is left as it is',
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    object: { data: { list: [], zero: 0, none: null }, revision: 0 },
    want: { data: { list: [], zero: 0, none: null }, revision: 0 },
  },
];

describe('shapeForWire', () => {
  for (const { reason, apiVersion, kind, object, want } of cases)
    it(`${kind}: ${reason}`, () => assert.deepEqual(shaped(apiVersion, kind, object), want));

  it('shaping twice is shaping once', () => {
    for (const { apiVersion, kind, object } of cases) {
      const once = shaped(apiVersion, kind, object);
      assert.deepEqual(shaped(apiVersion, kind, once), once);
    }
  });

  it('a quantity that is none is a fault of the request', () =>
    assert.throws(
      () => shaped('v1', 'ResourceQuota', { spec: { hard: { pods: 'many' } } }),
      /^ApiError: ResourceQuota in version "v1" cannot be handled as a ResourceQuota: quantities must match/,
    ));
});
