import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestData } from './digest-data.ts';

test('of a Secret only digests are kept (upstream weakness 37)', () => {
  const secret = (value: string) =>
    digestData({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', namespace: 'n', uid: 'u', resourceVersion: '1' },
      data: { key: value },
      stringData: { other: 'c2VjcmV0' },
    } as never) as unknown as { data: Record<string, string> };
  const kept = secret('aHVudGVyMg==');
  assert.equal(JSON.stringify(kept).includes('aHVudGVyMg'), false);
  assert.equal(JSON.stringify(kept).includes('c2VjcmV0'), false);
  assert.equal(kept.data['key'], secret('aHVudGVyMg==').data['key'], 'the same value is recognised');
  assert.notEqual(kept.data['key'], secret('aHVudGVyMw==').data['key'], 'and another one is seen');
});
