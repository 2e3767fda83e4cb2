import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../api/errors.ts';
import { decodeProtobuf, ProtobufFault } from './protobuf.ts';

/** A message of fields with given numbers: text or bytes by length, numbers as varints. */
function message(...fields: readonly (readonly [number, string | number | Uint8Array])[]): Buffer {
  return Buffer.concat(
    fields.map(([number, value]) => {
      if (typeof value === 'number') return Buffer.from([(number << 3) | 0, ...varint(value)]);
      const bytes = Buffer.from(value as string);
      return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(bytes.length)]), bytes]);
    }),
  );
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 0x80);
  }
}

function envelope(apiVersion: string, kind: string, raw: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from('k8s\0'), message([1, message([1, apiVersion], [2, kind])], [2, raw])]);
}

test('a ConfigMap: text, a map, and what was never set left out', () => {
  const metadata = message(
    [1, 'cm'],
    [2, ''],
    [3, 'ns'],
    [7, 0],
    [8, message()],
    [11, message([1, 'a'], [2, 'b'])],
  );
  const raw = message([1, metadata], [2, message([1, 'k'], [2, 'v'])], [4, 1]);
  assert.deepEqual(decodeProtobuf(envelope('v1', 'ConfigMap', raw)), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cm', namespace: 'ns', labels: { a: 'b' } },
    data: { k: 'v' },
    immutable: true,
  });
});

test('bytes are base64, times are text, a quantity and an int-or-string are what they hold', () => {
  const secret = message([2, message([1, 'p'], [2, Buffer.from([0, 255])])]);
  assert.deepEqual(decodeProtobuf(envelope('v1', 'Secret', secret))?.['data'], { p: 'AP8=' });
  const quota = message([2, message([1, message([1, 'cpu'], [2, message([1, '500m'])])])]);
  assert.deepEqual(decodeProtobuf(envelope('v1', 'ResourceQuota', quota))?.['spec'], {
    hard: { cpu: '500m' },
  });
  const port = message([3, 80], [4, message([1, 1], [3, 'http'])], [5, 0]);
  const service = message([1, message([9, message([1, 1_700_000_000])])], [2, message([1, port])]);
  assert.deepEqual(decodeProtobuf(envelope('v1', 'Service', service)), {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { deletionTimestamp: '2023-11-14T22:13:20Z' },
    spec: { ports: [{ port: 80, targetPort: 'http' }] },
  });
});

test('a zero that was set stays: no replicas is not one replica', () => {
  const raw = message([2, message([1, 0])]);
  assert.deepEqual(decodeProtobuf(envelope('apps/v1', 'Deployment', raw))?.['spec'], { replicas: 0 });
});

test('a kind whose form is not known is told apart from a broken body', () => {
  assert.equal(decodeProtobuf(envelope('example.org/v1', 'Widget', message())), undefined);
  assert.throws(() => decodeProtobuf(Buffer.from('{}')), ProtobufFault);
});

test('a field that is not in the table is refused by its number, unless it is empty', () => {
  const affinity = message([2, message([18, message([1, 'x'])])]);
  assert.throws(() => decodeProtobuf(envelope('v1', 'Pod', affinity)), /field 18 of V1PodSpec/);
  assert.deepEqual(decodeProtobuf(envelope('v1', 'Pod', message([2, message([18, ''])])))?.['spec'], {});
});

test('any bytes are read or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        decodeProtobuf(envelope('v1', 'Pod', bytes));
      } catch (error) {
        assert.ok(error instanceof ProtobufFault || error instanceof ApiError, String(error));
      }
    }),
  );
});
