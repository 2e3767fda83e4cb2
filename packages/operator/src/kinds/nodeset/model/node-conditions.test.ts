import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { drainingConditions, parseNodeConditionRule } from './node-conditions.ts';

for (const [text, expected] of [
  ['DiskFull', { type: 'DiskFull', status: 'True', drainAfterMs: undefined }],
  ['GpuBroken:30s', { type: 'GpuBroken', status: 'True', drainAfterMs: 30_000 }],
  [
    'example.com/GpuHealthy=False:1m30s',
    { type: 'example.com/GpuHealthy', status: 'False', drainAfterMs: 90_000 },
  ],
  ['GpuHealthy=False', { type: 'GpuHealthy', status: 'False', drainAfterMs: undefined }],
  ['GpuBroken:', undefined],
  ['GpuBroken:soon', undefined],
  ['GpuBroken:48h', undefined],
  ['GpuBroken=Unknown:1m', undefined],
  ['Gpu Broken', undefined],
  [':30s', undefined],
] as const)
  test(`"${text}" is ${expected === undefined ? 'no rule' : 'a rule'}`, () => {
    assert.deepEqual(parseNodeConditionRule(text), expected);
  });

const rules = [
  { type: 'GpuBroken', status: 'True', drainAfterMs: 30_000 },
  { type: 'Healthy', status: 'False', drainAfterMs: 0 },
  { type: 'Explains', status: 'True', drainAfterMs: undefined },
] as const;
const at = '2026-01-01T00:00:00Z';

test('a condition counts from its last transition, in the status that its rule names', () => {
  const gpu = { type: 'GpuBroken', status: 'True', reason: 'Xid', message: '79', lastTransitionTime: at };
  assert.deepEqual(drainingConditions([gpu], rules), [
    { type: 'GpuBroken', from: Date.parse(at) + 30_000, text: '(Xid: 79)' },
  ]);
  assert.deepEqual(drainingConditions([{ ...gpu, status: 'False' }], rules), []);
  assert.deepEqual(drainingConditions([{ ...gpu, type: 'Explains' }], rules), []);
  assert.deepEqual(
    drainingConditions([{ type: 'Healthy', status: 'False', lastTransitionTime: at }], rules),
    [{ type: 'Healthy', from: Date.parse(at), text: '(Healthy: )' }],
  );
});

test('a condition whose status is unknown has no time: it begins no drain', () => {
  const unknown = { type: 'GpuBroken', status: 'Unknown', lastTransitionTime: at };
  assert.deepEqual(drainingConditions([unknown], rules), [
    { type: 'GpuBroken', from: undefined, text: '(GpuBroken: )' },
  ]);
});

test('whatever a Node reports, only the conditions of rules count, and never before their time', () => {
  const condition = fc.record({
    type: fc.constantFrom('GpuBroken', 'Healthy', 'Explains', 'Other'),
    status: fc.constantFrom('True', 'False', 'Unknown', ''),
    message: fc.string(),
    lastTransitionTime: fc.constantFrom(at, '', undefined, 'yesterday'),
  });
  fc.assert(
    fc.property(fc.array(condition), (conditions) => {
      for (const { type, from } of drainingConditions(conditions, rules)) {
        const rule = rules.find((one) => one.type === type);
        const found = conditions.find((one) => one.type === type);
        assert.ok(rule?.drainAfterMs !== undefined && found !== undefined);
        assert.equal(from === undefined, found.status === 'Unknown');
        if (from !== undefined) assert.equal(found.status, rule.status);
        if (from !== undefined && found.lastTransitionTime === at)
          assert.equal(from, Date.parse(at) + rule.drainAfterMs);
      }
    }),
  );
});
