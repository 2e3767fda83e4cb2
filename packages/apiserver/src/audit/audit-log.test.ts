import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AuditLog } from './audit-log.ts';

const entry = (name: string, verb = 'get') => ({
  time: 0,
  user: 'u',
  userAgent: 'a',
  verb,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'n',
  name,
  path: '/',
  status: 200,
  milliseconds: 1,
});

test('requests are found by any field or by a function, and counted', () => {
  const log = new AuditLog();
  log.record(entry('a'));
  log.record(entry('b', 'create'));
  assert.equal(log.count({ resource: 'pods' }), 2);
  assert.deepEqual(
    log.find({ verb: 'create' }).map(({ name }) => name),
    ['b'],
  );
  assert.equal(
    log.count(({ id }) => id > 1),
    1,
  );
});

test('the log is bounded and says how many there ever were', () => {
  const log = new AuditLog(4);
  for (let index = 0; index < 20; index += 1) log.record(entry(String(index)));
  assert.ok(log.count() <= 5);
  assert.equal(log.total, 20);
  assert.equal(log.find().at(-1)?.name, '19');
});
