import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { KeyReports, reportedKeys } from './read-reports.ts';

const key = (n: number) => String(n).repeat(64);
const line = (n: number) => `slurm.jwks: slurmd uses the keys ${key(n)}\n`;

test('the last report of a log counts, and only a whole line', () => {
  assert.equal(reportedKeys(`slurmd started\n${line(1)}error\n${line(2)}more\n`), key(2));
  assert.equal(reportedKeys(`x ${line(1)}`), undefined);
  assert.equal(reportedKeys(line(1).slice(0, -10)), undefined);
});

test('a worker that reported the desired keys is not asked again, one that did not is', async () => {
  const logs: Record<string, string> = { 'w-0': line(2), 'w-1': line(1) };
  const asked: string[] = [];
  const client = {
    open: (path: string) => {
      const name = /pods\/([^/]+)\/log/.exec(path)?.[1] ?? '';
      asked.push(name);
      const text = logs[name];
      return text === undefined
        ? Promise.reject(new Error('gone'))
        : Promise.resolve(Readable.from([Buffer.from(text)]));
    },
  };
  const reports = new KeyReports();
  const workers = ['w-0', 'w-1', 'w-2'].map((name) => ({ name, uid: `uid-${name}` }));
  const read = () =>
    reports.read(
      client as never,
      { namespace: 'hpc', uid: 'c' },
      workers,
      key(2),
      AbortSignal.timeout(60_000),
    );
  const first = await read();
  assert.deepEqual(
    [first.get('uid-w-0')?.read, first.get('uid-w-1')?.read, first.get('uid-w-2')],
    [key(2), key(1), { read: undefined, unreadable: 'its log cannot be read' }],
  );
  logs['w-1'] = line(2);
  asked.length = 0;
  const second = await read();
  assert.deepEqual(asked, ['w-1', 'w-2']);
  assert.equal(second.get('uid-w-1')?.read, key(2));
});
