import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@slurm-operator/kube';
import { fitsNode } from './fits-node.ts';

test('fitting a node follows the scheduler', () => {
  const node = (labels: Record<string, string>, taints: NonNullable<Node['spec']>['taints'] = []): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', labels },
    spec: { taints },
  });
  const gpu = { key: 'gpu', effect: 'NoSchedule' as const, value: 'yes' };
  const affinity = (terms: object[]) => ({
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
    },
  });
  const cases = [
    { reason: 'no constraints', pod: {}, node: node({}), fits: true },
    { reason: 'selector', pod: { nodeSelector: { a: '1' } }, node: node({ a: '2' }), fits: false },
    { reason: 'untolerated taint', pod: {}, node: node({}, [gpu]), fits: false },
    {
      reason: 'tolerated taint',
      pod: { tolerations: [{ key: 'gpu', value: 'yes' }] },
      node: node({}, [gpu]),
      fits: true,
    },
    {
      reason: 'toleration of another value',
      pod: { tolerations: [{ key: 'gpu', value: 'no' }] },
      node: node({}, [gpu]),
      fits: false,
    },
    {
      reason: 'a preference excludes no pod',
      pod: {},
      node: node({}, [{ key: 'x', effect: 'PreferNoSchedule' }]),
      fits: true,
    },
    {
      reason: 'one term of several is enough',
      pod: affinity([
        { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
        { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] },
      ]),
      node: node({}),
      fits: true,
    },
    { reason: 'an empty term matches nothing', pod: affinity([{}]), node: node({}), fits: false },
    {
      reason: 'NotIn holds where the label is absent',
      pod: affinity([{ matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['1'] }] }]),
      node: node({}),
      fits: true,
    },
    {
      reason: 'greater than',
      pod: affinity([{ matchExpressions: [{ key: 'mem', operator: 'Gt', values: ['10'] }] }]),
      node: node({ mem: '9' }),
      fits: false,
    },
  ];
  for (const each of cases) assert.equal(fitsNode(each.pod as never, each.node), each.fits, each.reason);
});
