import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createSandbox, type RootFile, type Sandbox } from '@slurm-operator/sandbox';
import { password, people, sssdConf } from '../testing/people.ts';
import { controllerAddress, SlurmBoxes } from '../testing/slurm-boxes.ts';
import { slurmVersions } from './slurm-version.ts';

const sandboxes: Sandbox[] = [];
after(async () => {
  for (const sandbox of sandboxes) await sandbox.stop(500);
});

const sssd = (ldap: string): RootFile => ({
  path: '/etc/sssd/sssd.conf',
  mode: 0o440,
  content: sssdConf(ldap),
});

for (const version of slurmVersions) {
  test(`Slurm ${version}: an LDAP user logs in over ssh and runs a job`, async () => {
    const sandbox = await createSandbox({ name: `login-${version.replace('.', '-')}-${process.pid}` });
    sandboxes.push(sandbox);
    const boxes = new SlurmBoxes(sandbox, await sandbox.addNetwork('lan'), version);
    const ctld = await boxes.controller();
    const ldap = await boxes.run('ldap', 'ldap', {
      env: { LDAP_ADMIN_PASSWORD: 'secret' },
      files: [{ path: '/seed/people.ldif', content: people({ home: '/home/alice' }) }],
    });
    await ldap.waitForPort(1389);
    await boxes.worker('worker-0', ctld, { files: [sssd(ldap.address)] });
    const login = await boxes.run('login', 'login', {
      env: { SACKD_OPTIONS: `--conf-server ${controllerAddress}:6817` },
      files: [boxes.key(), sssd(ldap.address)],
    });
    await login.waitForPort(22);
    await login.waitFor('the configuration', async () => {
      const cached = await login.exec(['test', '-e', '/run/slurm/conf/slurm.conf'], { allowFailure: true });
      return cached.exitCode === 0;
    });
    await login.waitFor('people', async () => {
      const found = await login.exec(['getent', 'passwd', 'alice'], { allowFailure: true });
      return found.stdout.startsWith('alice:');
    });

    const client = await sandbox.startBox({
      name: 'client',
      rootfs: login.options.rootfs ?? assert.fail(),
      networks: [boxes.network],
      files: [{ path: '/askpass', content: `#!/bin/sh\necho '${password}'\n`, mode: 0o755 }],
    });
    const ssh = (to: string, ...command: string[]) =>
      client.exec(
        [
          'ssh',
          '-o',
          'StrictHostKeyChecking=no',
          '-o',
          'NumberOfPasswordPrompts=1',
          `alice@${to}`,
          ...command,
        ],
        {
          env: { SSH_ASKPASS: '/askpass', SSH_ASKPASS_REQUIRE: 'force' },
          allowFailure: true,
          timeoutMs: 180_000,
        },
      );
    const job = await ssh(login.address, 'pwd; srun --ntasks=1 sh -c "hostname; id -un"');
    assert.equal(job.stdout, '/home/alice\nworker-0\nalice\n', job.stderr + login.logTail());

    const worker = sandbox.boxes.find((box) => box.name === 'worker-0') ?? assert.fail();
    const refused = await ssh(worker.address, 'true');
    assert.match(refused.stderr, /you have no active jobs on this node/);

    await login.stop(60_000);
    assert.deepEqual(await login.exit, { code: 0, signal: null });
  });
}
