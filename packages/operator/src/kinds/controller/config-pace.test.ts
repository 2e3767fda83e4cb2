import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigPace } from './config-pace.ts';

test('the first change passes at once, the next waits for the rest of the period, the same content never waits', () => {
  const pace = new ConfigPace(1000);
  assert.equal(pace.wait('a', 'one', 0), 0);
  pace.wrote('a', 'one', 0);
  assert.equal(pace.wait('a', 'one', 10), 0);
  pace.wrote('a', 'one', 10);
  assert.equal(pace.wait('a', 'two', 400), 600, 'writing the same again does not prolong the wait');
  assert.equal(pace.wait('b', 'two', 400), 0, 'each Controller has its own pace');
  assert.equal(pace.wait('a', 'two', 1000), 0);
  pace.wrote('a', 'two', 1000);
  assert.equal(pace.wait('a', 'three', 1500), 500);
  pace.forget('a');
  assert.equal(pace.wait('a', 'three', 1500), 0);
});
