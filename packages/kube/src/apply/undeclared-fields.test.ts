import assert from 'node:assert/strict';
import { test } from 'node:test';
import { undeclaredFields, withoutFields } from './undeclared-fields.ts';

test('reads the unknown fields from the error message of an apply', () => {
  const one =
    'failed to create typed patch object (hpc/login; apps/v1, Kind=Deployment): .spec.template.spec.dNSPolicy: field not declared in schema';
  assert.deepEqual(undeclaredFields(one), ['.spec.template.spec.dNSPolicy']);
  const several =
    'failed to create typed patch object (hpc/login; apps/v1, Kind=Deployment): errors:\n  .spec.template.spec.containers[name="login"].bogus: field not declared in schema\n  .spec.template.spec.containers[name="login"].ports[containerPort=22,protocol="TCP"].nam: field not declared in schema';
  assert.deepEqual(undeclaredFields(several), [
    '.spec.template.spec.containers[name="login"].bogus',
    '.spec.template.spec.containers[name="login"].ports[containerPort=22,protocol="TCP"].nam',
  ]);
  assert.deepEqual(undeclaredFields('Deployment.apps "login" is invalid: spec.selector: Required value'), []);
  assert.deepEqual(undeclaredFields('.spec.replicas: expected numeric (int or float), got string'), []);
});

test('removes the fields at any depth, and nothing else', () => {
  const object = {
    spec: {
      dNSPolicy: 'Default',
      hostNetwork: true,
      containers: [
        { name: 'a', bogus: 1 },
        { name: 'b', bogus: 2, ports: [{ containerPort: 22, nam: 'ssh' }], args: ['x'] },
      ],
    },
  };
  const paths = [
    '.spec.dNSPolicy',
    '.spec.containers[name="b"].bogus',
    '.spec.containers[name="b"].ports[containerPort=22,protocol="TCP"].nam',
    '.spec.nowhere.at.all',
    '.spec.containers[name="c"].bogus',
  ];
  assert.deepEqual(withoutFields(object, paths), {
    spec: {
      hostNetwork: true,
      containers: [
        { name: 'a', bogus: 1 },
        { name: 'b', ports: [{ containerPort: 22 }], args: ['x'] },
      ],
    },
  });
  assert.equal(object.spec.dNSPolicy, 'Default', 'the intent itself is not changed');
  assert.equal(withoutFields(object, []), object);
});
