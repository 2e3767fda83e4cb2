import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JobRow } from '../live/job-row.ts';
import { isBadQuery, type JobQuery, queryJobs, readJobQuery } from './job-query.ts';

function row(id: number, over: Partial<JobRow> = {}): JobRow {
  return {
    key: String(id),
    id: String(id),
    array: 0,
    name: `job-${id}`,
    user: 'alice',
    account: 'physics',
    partition: 'all',
    qos: 'normal',
    state: 'RUNNING',
    reason: '',
    nodes: 'n1',
    nodeCount: 1,
    cpus: 1,
    gpus: 0,
    priority: 1,
    submittedAt: id,
    startedAt: 0,
    endedAt: 0,
    timeLimit: 60,
    ...over,
  };
}

function query(search: string): JobQuery {
  const read = readJobQuery(new URLSearchParams(search));
  if (isBadQuery(read)) assert.fail(read.message);
  return read;
}

const ids = (rows: readonly JobRow[], search: string, only?: string) =>
  queryJobs(rows, query(search), only).rows.map(({ id }) => id);

test('filters by several values, by name with wildcards, and by node', () => {
  const rows = [
    row(1, { user: 'bob', state: 'PENDING', reason: 'Priority', nodes: '' }),
    row(2, { name: 'train-large', nodes: 'n[1-3]' }),
    row(3, { name: 'train-small', nodes: 'n[4-5]', state: 'COMPLETED+COMPLETING' }),
  ];
  assert.deepEqual(ids(rows, 'user=bob,carol'), ['1']);
  assert.deepEqual(ids(rows, 'state=pending&state=completing'), ['3', '1']);
  assert.deepEqual(ids(rows, 'name=train-*'), ['3', '2']);
  assert.deepEqual(ids(rows, 'name=RAIN'), ['3', '2']);
  assert.deepEqual(ids(rows, 'node=n3'), ['2']);
  assert.deepEqual(ids(rows, 'reason=Priority'), ['1']);
});

test('a user who may not see all jobs gets only their own, whatever the filter says', () => {
  const rows = [row(1, { user: 'bob' }), row(2)];
  assert.deepEqual(ids(rows, 'user=bob', 'alice'), []);
  assert.deepEqual(ids(rows, '', 'alice'), ['2']);
  assert.deepEqual(
    queryJobs(rows, query(''), 'alice').states,
    { RUNNING: 1 },
    'counts include no jobs of others',
  );
});

test('sorts numbers as numbers and ids in their natural order, and cuts a window', () => {
  const rows = [row(9, { cpus: 10 }), row(10, { cpus: 9 }), row(100, { cpus: 9 })];
  assert.deepEqual(ids(rows, 'sort=id'), ['9', '10', '100']);
  assert.deepEqual(ids(rows, 'sort=cpus&order=descending'), ['9', '10', '100']);
  assert.deepEqual(ids(rows, 'sort=id&offset=1&limit=1'), ['10']);
  assert.equal(queryJobs(rows, query('limit=1')).total, 3);
});

test('folds the tasks of an array into one row with counts and what runs of it', () => {
  const rows = [
    row(40, { array: 40, id: '40_1', state: 'COMPLETED' }),
    row(41, { array: 40, id: '40_2', cpus: 4 }),
    row(42, { array: 40, id: '40_3', cpus: 4 }),
    row(43, { array: 40, id: '40', state: 'PENDING', reason: 'JobArrayTaskLimit' }),
  ];
  const { rows: folded, total } = queryJobs(rows, query(''));
  assert.equal(total, 1);
  assert.deepEqual(folded[0]?.tasks, { COMPLETED: 1, RUNNING: 2, PENDING: 1 });
  assert.deepEqual([folded[0]?.id, folded[0]?.cpus, folded[0]?.state], ['40', 8, 'RUNNING']);
  assert.equal(queryJobs(rows, query('fold=no')).total, 4);
});

test('a wrong parameter is named with what is allowed', () => {
  for (const [search, field] of [
    ['sort=priority;drop', 'sort'],
    ['limit=100000', 'limit'],
    ['offset=-1', 'offset'],
  ] as const) {
    const read = readJobQuery(new URLSearchParams(search));
    assert.ok(isBadQuery(read) && read.field === field && read.message.includes(field));
  }
});

test('windows that follow each other contain every matching job once', () => {
  const jobs = fc.uniqueArray(
    fc.record({ id: fc.nat(500), cpus: fc.nat(3), array: fc.constantFrom(0, 0, 7, 8) }),
    { selector: ({ id }) => id, maxLength: 60 },
  );
  fc.assert(
    fc.property(jobs, fc.integer({ min: 1, max: 9 }), fc.boolean(), (list, size, fold) => {
      const rows = list.map(({ id, ...over }) => row(id, over));
      const search = `sort=cpus&fold=${fold ? 'yes' : 'no'}&limit=${size}`;
      const { total } = queryJobs(rows, query(search));
      const seen: string[] = [];
      for (let offset = 0; offset < total; offset += size)
        seen.push(...queryJobs(rows, query(`${search}&offset=${offset}`)).rows.map(({ key }) => key));
      assert.equal(seen.length, total);
      assert.equal(new Set(seen).size, total);
    }),
  );
});

test('a pattern of many stars does not slow down the search', () => {
  const rows = Array.from({ length: 200 }, (_, at) => row(at, { name: 'a'.repeat(900) }));
  assert.deepEqual(ids(rows, `name=${'*a'.repeat(80)}*b`), []);
});
