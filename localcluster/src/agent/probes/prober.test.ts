import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterResult, initialProbeState } from './prober.ts';

const healthAfter = (healthy: boolean, results: string, thresholds: { success: number; failure: number }) => {
  let state = initialProbeState(healthy);
  return results
    .split('')
    .map((result) => {
      state = afterResult(state, result === '+', thresholds);
      return state.healthy ? 'y' : 'n';
    })
    .join('');
};

test('the state changes only after enough consecutive results', () => {
  for (const [reason, healthy, results, thresholds, expected] of [
    ['readiness begins badly, one success is enough', false, '--+', { success: 1, failure: 3 }, 'nny'],
    ['three failures in a row', true, '--+---', { success: 1, failure: 3 }, 'yyyyyn'],
    ['two successes in a row', false, '+-++', { success: 2, failure: 1 }, 'nnny'],
    ['one failure where one is enough', true, '+-', { success: 1, failure: 1 }, 'yn'],
    ['and back again', true, '-++', { success: 2, failure: 1 }, 'nny'],
  ] as const)
    assert.equal(healthAfter(healthy, results, thresholds), expected, reason);
});
