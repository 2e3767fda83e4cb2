import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AlreadyExistsError,
  apiError,
  ConflictError,
  ConnectionError,
  explain,
  GoneError,
  InvalidError,
  ServerTimeoutError,
  type Status,
  TooManyRequestsError,
} from './errors.ts';

const refused = (status: number, reason: string, details?: Status['details']) =>
  apiError('cannot create Pod n/p', {
    status,
    body: {
      kind: 'Status',
      reason,
      message: 'because',
      code: status,
      ...(details === undefined ? {} : { details }),
    },
  });

test('the reason decides where one status code has several meanings', () => {
  assert.ok(refused(409, 'AlreadyExists') instanceof AlreadyExistsError);
  assert.ok(refused(409, 'Conflict') instanceof ConflictError);
  assert.ok(!(refused(409, 'AlreadyExists') instanceof ConflictError));
  assert.ok(refused(410, 'Expired') instanceof GoneError);
  assert.ok(refused(504, 'Timeout') instanceof ServerTimeoutError);
  assert.ok(refused(500, 'ServerTimeout') instanceof ServerTimeoutError);
});

test('keeps causes, details and Retry-After', () => {
  const error = refused(422, 'Invalid', {
    causes: [{ field: 'spec.x', message: 'bad' }],
    retryAfterSeconds: 2,
  });
  assert.ok(error instanceof InvalidError);
  assert.deepEqual(error.causes, [{ field: 'spec.x', message: 'bad' }]);
  assert.equal(error.retryAfter, 2_000);
  assert.equal(error.message, 'cannot create Pod n/p: because (422)');
  assert.equal(error.code, 'KUBE_API');
  assert.equal(
    new TooManyRequestsError('x', { status: 429, text: 'slow down\n' }).message,
    'x: slow down (429)',
  );
});

test('explain describes the whole chain of causes without repetition', () => {
  const error = new Error('reconcile failed', {
    cause: new ConnectionError('cannot get Pod n/p: refused', { sent: false, cause: new Error('refused') }),
  });
  assert.equal(explain(error), 'reconcile failed: cannot get Pod n/p: refused');
});
