import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectsNode, termMatches, tolerates } from './scheduling.ts';

const node = { metadata: { name: 'n1', labels: { zone: 'a', cores: '64' } } };
const rule = (key: string, operator: string, ...values: string[]) => ({ key, operator, values });

const terms: readonly [term: Parameters<typeof termMatches>[0], boolean, reason: string][] = [
  [{}, false, 'a term that asks for nothing matches nothing'],
  [{ matchExpressions: [rule('zone', 'In', 'a', 'b')] }, true, 'one of the values'],
  [{ matchExpressions: [rule('zone', 'NotIn', 'a')] }, false, 'a value that is ruled out'],
  [{ matchExpressions: [rule('rack', 'NotIn', 'a')] }, true, 'no label at all is not in the list'],
  [{ matchExpressions: [rule('rack', 'DoesNotExist')] }, true, 'absent'],
  [{ matchExpressions: [rule('cores', 'Gt', '32')] }, true, 'numbers are compared as numbers'],
  [{ matchExpressions: [rule('cores', 'Lt', '9')] }, false, '64 is not below 9, though its text sorts so'],
  [{ matchExpressions: [rule('zone', 'Exists'), rule('rack', 'Exists')] }, false, 'every rule must hold'],
  [{ matchFields: [rule('metadata.name', 'In', 'n1')] }, true, 'by name'],
  [{ matchFields: [rule('spec.unschedulable', 'In', 'true')] }, false, 'other fields cannot be asked for'],
  [{ matchExpressions: [rule('zone', 'Near', 'a')] }, false, 'an unknown operator'],
];

test('a term of a node selector', () => {
  for (const [term, matches, reason] of terms) assert.equal(termMatches(term, node), matches, reason);
});

test('selector and affinity must both agree; terms are alternatives', () => {
  const affinity = (...nodeSelectorTerms: Parameters<typeof termMatches>[0][]) => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  });
  const [inA, inB] = ['a', 'b'].map((zone) => ({ matchExpressions: [rule('zone', 'In', zone)] }));
  assert.ok(inA && inB);
  assert.equal(selectsNode({}, node), true);
  assert.equal(selectsNode({ affinity: affinity(inB, inA) } as never, node), true);
  assert.equal(selectsNode({ affinity: affinity(inB) } as never, node), false);
  assert.equal(selectsNode({ affinity: affinity(inA), nodeSelector: { zone: 'b' } } as never, node), false);
});

test('tolerations', () => {
  const taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' } as const;
  assert.equal(tolerates({ operator: 'Exists' }, taint), true, 'all of them');
  assert.equal(tolerates({ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }, taint), false);
  assert.equal(tolerates({ key: 'gpu', value: 'yes' }, taint), true, 'Equal is the default');
  assert.equal(tolerates({ key: 'gpu' }, taint), false, 'no value is the empty value');
  assert.equal(tolerates({ value: 'yes' }, taint), false, 'no key, and not Exists');
});
