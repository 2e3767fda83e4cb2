import assert from 'node:assert/strict';
import { test } from 'node:test';
import { label } from '@slurm-operator/api';
import type { Session } from '../session/session.ts';
import { oneDaemon } from './daemons.ts';

test('exec and ssh take a pod that is ready and stays', async () => {
  const login = (name: string, ready: string, more: object = {}) => ({
    metadata: { name, labels: { [label.component]: 'login' }, ...more },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  });
  const items = [
    login('a', 'True', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    login('b', 'False'),
    login('c', 'True'),
  ];
  const session = {
    cluster: () => Promise.resolve({ metadata: { namespace: 'hpc' } }),
    client: () => Promise.resolve({ list: () => Promise.resolve({ items }) }),
  } as unknown as Session; // what it reads of a session
  assert.equal((await oneDaemon(session, 'login')).pod, 'c');
  items.pop();
  assert.equal((await oneDaemon(session, 'login')).pod, 'b');
});
