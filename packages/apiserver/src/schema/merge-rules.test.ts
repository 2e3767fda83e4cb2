/** Our tables refer to types and fields that exist: a typing error would go unnoticed otherwise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtinKinds } from './builtin-kinds.ts';
import { builtinSchema } from './builtin-schemas.ts';
import { builtinTypes } from './generated/builtin-types.ts';
import {
  atomicMaps,
  atomicTypes,
  keyDefaults,
  listRules,
  patchStrategies,
  quantities,
} from './merge-rules.ts';
import { protobufFields } from './protobuf-fields.ts';

function exists(path: string): boolean {
  const [type = '', field] = path.split('.');
  const fields = builtinTypes[type]?.split(' ').map((each) => each.split(':')[0]?.replace('!', ''));
  return fields !== undefined && (field === undefined || fields.includes(field));
}

test('every path in the tables is a field of a type', () => {
  const paths = [
    ...Object.keys(listRules),
    ...Object.keys(patchStrategies),
    ...Object.keys(keyDefaults),
    ...atomicTypes,
    ...atomicMaps,
    ...quantities,
    ...Object.entries(protobufFields).flatMap(([type, fields]) =>
      fields === '' ? [type] : fields.split(' ').map((pair) => `${type}.${pair.split('=')[0]}`),
    ),
  ];
  assert.deepEqual(
    paths.filter((path) => !exists(path)),
    [],
  );
});

test('every kind has a schema, and the keys of its lists are fields of their items', () => {
  for (const { group, version, kind } of builtinKinds) assert.ok(builtinSchema(group, version, kind), kind);
  const pod = builtinSchema('', 'v1', 'Pod')?.schema.properties?.['spec'];
  const containers = pod?.properties?.['containers'];
  assert.deepEqual(containers?.['x-kubernetes-list-map-keys'], ['name']);
  assert.equal(containers?.items?.properties?.['ports']?.items?.properties?.['protocol']?.default, 'TCP');
  assert.equal(pod?.properties?.['nodeSelector']?.['x-kubernetes-map-type'], 'atomic');
});
