/** The laws of the NodeSet plan on a few random histories; the integration tier runs 20,000. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkLaws } from '../../../../testing/check-laws.ts';

test('random histories keep the laws, come to rest, and rest where a fresh start would', () => {
  assert.equal(checkLaws(100, 1), 100);
});
