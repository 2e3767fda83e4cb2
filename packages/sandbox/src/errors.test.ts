import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PrerequisiteError, requireRoot } from './errors.ts';

test('what needs root says so in one sentence', () => {
  requireRoot('Making a sandbox', 0);
  assert.throws(
    () => requireRoot('Making a sandbox', 1000),
    (error) => {
      assert.ok(error instanceof PrerequisiteError);
      assert.match(
        error.message,
        /^Making a sandbox needs root \([^.]*\): run it again as root or with sudo\.$/,
      );
      return true;
    },
  );
});
