import assert from 'node:assert/strict';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createSandbox, type Sandbox } from '@slurm-operator/sandbox';
import { SlurmBoxes, slurmConf } from '../testing/slurm-boxes.ts';
import { slurmVersions } from './slurm-version.ts';

const sandboxes: Sandbox[] = [];
const directories: string[] = [];
after(async () => {
  for (const sandbox of sandboxes) await sandbox.stop(500);
  for (const directory of directories) await rm(directory, { recursive: true });
});

async function slurmBoxes(version: string): Promise<SlurmBoxes> {
  const sandbox = await createSandbox({
    name: `images-${version.replace('.', '-')}-${process.pid}-${sandboxes.length}`,
  });
  sandboxes.push(sandbox);
  return new SlurmBoxes(sandbox, await sandbox.addNetwork('lan'), version);
}

for (const version of slurmVersions) {
  test(`Slurm ${version}: a job runs on the slurmctld and slurmd images, and slurmrestd answers`, async () => {
    const boxes = await slurmBoxes(version);
    const ctld = await boxes.controller();
    const { stdout: about } = await ctld.exec(['slurmctld', '-V']);
    assert.ok(about.startsWith(`slurm-wlm ${version}.`), about);
    const worker = await boxes.worker('worker-0', ctld, {
      env: { POD_CPUS: '1', POD_MEMORY: '1500' },
      args: ['--conf', 'CPUs=2 RealMemory=2000 Feature=$(touch${IFS}/evaluated)'],
    });
    const { stdout } = await ctld.exec(['srun', '--ntasks=1', 'hostname'], {
      user: 'slurm',
      timeoutMs: 120_000,
    });
    assert.equal(stdout.trim(), 'worker-0');
    const node = (await ctld.exec(['scontrol', 'show', 'node', 'worker-0'])).stdout;
    assert.match(node, /MemSpecLimit=500\b/, 'POD_MEMORY reserves the rest of the node');
    assert.match(node, /CoreSpecCount=1\b/, 'POD_CPUS reserves the other cores');
    assert.match(node, /ActiveFeatures=\$\(touch\$\{IFS\}\/evaluated\)/, 'options are text, not shell');
    assert.equal((await worker.exec(['test', '-e', '/evaluated'], { allowFailure: true })).exitCode, 1);

    // As upstream presents limits: the layout of the node stays, and the cores beyond the limit are reserved.
    await boxes.worker('worker-1', ctld, {
      env: { POD_CPUS: '4' },
      args: [
        '--conf',
        'CPUs=16 Boards=1 SocketsPerBoard=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=2000',
      ],
    });
    const layout = (await ctld.exec(['scontrol', 'show', 'node', 'worker-1'])).stdout;
    assert.match(layout, /CoreSpecCount=6\b/, layout);
    assert.match(layout, /ThreadsPerCore=2\b[\s\S]*Sockets=2\b|Sockets=2\b[\s\S]*ThreadsPerCore=2\b/, layout);
    assert.match(layout, /CPUEfctv=4\b/, 'jobs may use what the pod may use');

    const rest = await boxes.run('slurmrestd', 'rest', {
      args: ['-s', 'slurmctld', '0.0.0.0:6820'],
      env: { SLURM_JWT: 'daemon' },
      files: [{ path: '/etc/slurm/slurm.conf', content: slurmConf }],
    });
    await rest.waitForPort(6820);
    const { port } = await boxes.sandbox.forward({ address: rest.address, port: 6820 });
    const response = await fetch(`http://127.0.0.1:${port}/slurm/v0.0.42/ping/`);
    assert.equal(response.status, 401, 'it is there and wants a token');
    await worker.waitFor('the end of its job', async () => {
      const sinfo = await ctld.exec(['sinfo', '--noheader', '--nodes=worker-0', '--format=%T']);
      return sinfo.stdout.trim() === 'idle';
    });
    // slurmd first: one that has yet to report the end of a job keeps retrying, past its minute, when slurmctld is gone.
    for (const box of [worker, ctld]) {
      await box.stop(60_000);
      assert.equal((await box.exit).signal, null, `${box.name} ends on SIGTERM`);
    }
  });

  test(`Slurm ${version}: slurmdbd keeps accounts in the mariadb image`, async () => {
    const boxes = await slurmBoxes(version);
    const data = await mkdtemp(join(tmpdir(), 'mariadb-'));
    directories.push(data);
    await chown(data, 999, 999);
    const startMariadb = async (name: string, password: string) => {
      const box = await boxes.run('mariadb', name, {
        env: { MARIADB_DATABASE: 'slurm_acct_db', MARIADB_USER: 'slurm', MARIADB_PASSWORD: password },
        args: ['--innodb-buffer-pool-size=64M'],
        mounts: [{ source: data, target: '/var/lib/mysql' }],
      });
      await box.waitForPort(3306, { timeoutMs: 180_000 });
      const { stdout } = await box.exec(
        ['mariadb', '--host=127.0.0.1', '--user=slurm', '--batch', '--execute=SHOW DATABASES'],
        { env: { MYSQL_PWD: password } },
      );
      assert.match(stdout, /slurm_acct_db/);
      return box;
    };
    const first = await startMariadb('mariadb-0', `it's "quoted" \\ \`x\` $(id)`);
    await first.stop(60_000);
    assert.equal((await first.exit).signal, null, 'MariaDB ends on SIGTERM');
    const mariadb = await startMariadb('mariadb-1', 'simple'); // a new password takes effect with the next start

    const dbd = await boxes.run('slurmdbd', 'slurmdbd', {
      files: [
        boxes.key(),
        { path: '/etc/hosts', content: '127.0.0.1 localhost slurmdbd\n' },
        { path: '/etc/slurm/slurm.conf', content: `${slurmConf}${accountingConf}` },
        {
          path: '/etc/slurm/slurmdbd.conf',
          mode: 0o600,
          uid: 401,
          gid: 401,
          content: `AuthType=auth/slurm\nDbdHost=slurmdbd\nSlurmUser=slurm\nStorageType=accounting_storage/mysql
StorageHost=${mariadb.address}\nStorageUser=slurm\nStoragePass=simple\nStorageLoc=slurm_acct_db\n`,
        },
      ],
    });
    await dbd.waitForPort(6819, { timeoutMs: 180_000 });
    await dbd.exec(['sacctmgr', '--immediate', 'add', 'cluster', 'images']);
    await dbd.exec(['sacctmgr', '--immediate', 'add', 'account', 'science']);
    const { stdout } = await dbd.exec(['sacctmgr', '-nP', 'show', 'account', 'format=account']);
    assert.deepEqual(stdout.trim().split('\n'), ['root', 'science']);
  });
}

const accountingConf = `AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=slurmdbd
`;
