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

test('secrets under other names and in other notations are left out too', () => {
  const secret = 'hunter2hunter2';
  for (const text of [
    `JobCompPass=${secret}`,
    `AccountingStoragePass=${secret} AccountingStorageUser=slurm`,
    `DB_PASSWORD=${secret}`,
    `{"clientSecret": "${secret}", "user": "x"}`,
    `aws_secret: '${secret}'`,
    `Authorization: Bearer ${secret}`,
    `authorization=Basic ${secret}==`,
    `X-SLURM-USER-TOKEN: ${secret}`,
    `https://slurm:${secret}@db:3306/`,
    `AWS_SECRET_ACCESS_KEY=${secret}`,
    `{"secret_access_key": "${secret}"}`,
    `AccessKey: ${secret}`,
    `ldap_default_authtok = ${secret}`,
    `MYSQL_PWD=${secret}`,
    `passphrase: ${secret}`,
    `authorization: bearer ${secret}`,
    `https://slurm:at@${secret}@db:3306/`,
    `sh -c 'mysql --password ${secret} slurm'`,
  ]) {
    assert.ok(!redactText(text).includes(secret), text);
    assert.ok(!JSON.stringify(redact({ extraConf: text })).includes(secret), text);
  }
  const { args } = redact({ args: ['--db-password', secret, '-v'] }) as { args: readonly string[] };
  assert.deepEqual(args, ['--db-password', '<left out>', '-v']);
  // What is no secret stays readable.
  for (const text of [
    'Reason=pass the salt',
    'bypass the queue',
    'PassiveConnections 3',
    'compass',
    'secretName: slurm-keys',
    'basic configuration',
  ])
    assert.equal(redactText(text), text);
});
