import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../api/types.ts';
import { type DisruptionBudget, decideEviction, takeFromBudget } from './eviction-budget.ts';

const pod = (phase: string, ready: boolean, metadata: KubeObject['metadata'] = {}): KubeObject => ({
  metadata,
  status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});
const budget = (
  status: Partial<NonNullable<DisruptionBudget['status']>>,
  policy?: string,
): DisruptionBudget => ({
  metadata: { name: 'b', generation: 1 },
  spec: { selector: {}, ...(policy === undefined ? {} : { unhealthyPodEvictionPolicy: policy }) },
  status: { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, observedGeneration: 1, ...status },
});

const cases: { reason: string; pod: KubeObject; budgets: DisruptionBudget[]; want: string | number }[] = [
  { reason: 'no budget, no question', pod: pod('Running', true), budgets: [], want: 'free' },
  { reason: 'a pod that never ran may go', pod: pod('Pending', false), budgets: [budget({})], want: 'free' },
  { reason: 'a pod that is over may go', pod: pod('Failed', false), budgets: [budget({})], want: 'free' },
  {
    reason: 'a pod that is going may go faster',
    pod: pod('Running', true, { deletionTimestamp: 'now' }),
    budgets: [budget({})],
    want: 'free',
  },
  {
    reason: 'two budgets are one too many',
    pod: pod('Running', true),
    budgets: [budget({}), budget({})],
    want: 500,
  },
  { reason: 'no allowance', pod: pod('Running', true), budgets: [budget({})], want: 429 },
  {
    reason: 'a budget that was not observed since it changed is not used',
    pod: pod('Running', true),
    budgets: [budget({ disruptionsAllowed: 5, observedGeneration: 0 })],
    want: 429,
  },
  {
    reason: 'within the allowance',
    pod: pod('Running', true),
    budgets: [budget({ disruptionsAllowed: 1 })],
    want: 'within-budget',
  },
  {
    reason: 'an unready pod needs no budget while enough others are healthy',
    pod: pod('Running', false),
    budgets: [budget({})],
    want: 'free',
  },
  {
    reason: 'an unready pod is kept while too few are healthy',
    pod: pod('Running', false),
    budgets: [budget({ currentHealthy: 1 })],
    want: 429,
  },
  {
    reason: 'unless the budget always lets unready ones go',
    pod: pod('Running', false),
    budgets: [budget({ currentHealthy: 1 }, 'AlwaysAllow')],
    want: 'free',
  },
];

describe('decideEviction', () => {
  for (const { reason, pod: evicted, budgets, want } of cases)
    it(reason, () => {
      const decision = decideEviction(evicted, budgets);
      assert.equal(decision.outcome === 'refused' ? decision.error.code : decision.outcome, want);
    });
});

describe('takeFromBudget', () => {
  const charged = takeFromBudget(
    budget({
      disruptionsAllowed: 1,
      conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }],
    }),
    'p',
    'now',
  ).status;
  it('notes the pod and takes one disruption', () =>
    assert.deepEqual([charged?.disruptionsAllowed, charged?.disruptedPods], [0, { p: 'now' }]));
  it('says so in its condition when none is left', () =>
    assert.deepEqual(charged?.conditions, [
      { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' },
    ]));
});
