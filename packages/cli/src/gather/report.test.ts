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
    `curl -u alice:${secret} https://db`,
    `curl --user "alice:${secret}" https://db`,
    `mysqldump -h db -u slurm -p${secret} slurm_acct_db`,
    `sshpass -p ${secret} ssh alice@login`,
    `ldapsearch -x -D cn=admin -w ${secret}`,
    `redis-cli -h cache -a ${secret} ping`,
    `LICENSE_KEY=${secret}`,
    `export WANDB_KEY="${secret}"`,
  ]) {
    assert.ok(!redactText(text).includes(secret), text);
    assert.ok(!JSON.stringify(redact({ extraConf: text })).includes(secret), text);
  }
  const { args } = redact({ args: ['--db-password', secret, '-v'] }) as { args: readonly string[] };
  assert.deepEqual(args, ['--db-password', '<left out>', '-v']);
  for (const words of [
    ['curl', '-s', '-u', `alice:${secret}`, 'https://db'],
    ['mysql', '-h', 'db', `-p${secret}`],
    ['sshpass', '-p', secret, 'ssh', 'login'],
    ['sh', '-c', `curl -u alice:${secret} https://db`],
    ['env', `LICENSE_KEY=${secret}`, 'run'],
  ]) {
    const left = JSON.stringify(redact({ command: words }));
    assert.ok(!left.includes(secret), left);
    assert.ok(
      left.includes(words[0] ?? '?') && left.includes(words.at(-1) === `-p${secret}` ? 'db' : '"'),
      left,
    );
  }
  const plain = ['sbatch', '-p', 'gpu', '-u', 'alice', '--wrap', 'true'];
  assert.deepEqual(redact({ command: plain }), { command: plain });
  // What is no secret stays readable.
  for (const text of [
    'Reason=pass the salt',
    'bypass the queue',
    'PassiveConnections 3',
    'compass',
    'secretName: slurm-keys',
    'basic configuration',
    'sbatch -pgpu --wrap true',
    'squeue -u alice',
    'AuthAltParameters=jwt_key=/etc/slurm/jwt.key',
    'JWT_KEY=/etc/slurm/jwt.key',
    'srun -p gpu mysql-client --port 3306',
    'mysql -port 3306',
  ])
    assert.equal(redactText(text), text);
});
