/** The laws of the NodeSet plan, on the number of histories that the project promises. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkLaws } from '../../../../testing/check-laws.ts';

test('20,000 random histories keep laws L1 to L11', () => {
  const histories = checkLaws(20_000, Number(process.env['SEED'] ?? 42));
  console.log(`${histories} histories checked`);
  assert.equal(histories, 20_000);
});
