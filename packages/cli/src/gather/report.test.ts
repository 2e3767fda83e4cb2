import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact, redactText } from './report.ts';

const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdW4iOiJhbGljZSJ9.c2lnbmF0dXJl';

test('leaves out tokens, keys and passwords wherever they stand', () => {
  const report = JSON.stringify(
    redact({
      pods: [
        {
          spec: {
            containers: [
              {
                name: 'slurmd',
                env: [{ name: 'DB_PASSWORD', value: 'hunter2' }],
                args: [`--token=${token}`],
              },
            ],
          },
        },
      ],
      secret: { data: { key: 'c2VjcmV0' } },
      logs: new Map([['a/b', `got ${token} and StoragePass=hunter2, url mysql://slurm:hunter2@db/x`]]),
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'hunter2' },
      key: '-----BEGIN EC PRIVATE KEY-----\nhunter2\n-----END EC PRIVATE KEY-----',
      states: new Set(['IDLE']),
      reason: 'new disk',
    }),
  );
  for (const secret of ['hunter2', 'c2VjcmV0', token, 'c2lnbmF0dXJl'])
    assert.equal(report.includes(secret), false, secret);
  for (const fact of ['slurmd', 'new disk', 'IDLE', 'mysql://slurm:']) assert.ok(report.includes(fact), fact);
});

test('keeps what is no secret', () => {
  for (const text of ['JobId=7 done', 'error: tokens of the cluster', 'password is wrong'])
    assert.equal(redactText(text), text);
});
