/** Laws A1 to A9 of an autoscaled NodeSet, on a few random histories; the integration tier runs more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAutoscaleLaws } from '../../../../testing/autoscale-history.ts';

test('random histories keep the laws of autoscaling, and come to rest', () => {
  assert.equal(checkAutoscaleLaws(60, 1), 60);
});
