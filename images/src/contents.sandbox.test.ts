/** What users of upstream's images expect to find in these, and what of it Debian has. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { createSandbox, type Sandbox } from '@slurm-operator/sandbox';
import { SlurmBoxes } from '../testing/slurm-boxes.ts';
import { buildImage } from './build-image.ts';
import { slurmVersions } from './slurm-version.ts';

const sandboxes: Sandbox[] = [];
after(async () => {
  for (const sandbox of sandboxes) await sandbox.stop(500);
});

/** Whether Debian builds this release of Slurm with PMIx. */
const hasPmix = { '26.05': false, '24.11': true } as const;

describe("every sssd provider that upstream's images have", () => {
  for (const version of slurmVersions)
    for (const name of ['slurmd', 'login'] as const)
      test(`${name} ${version}`, async () => {
        const { rootfs } = await buildImage(name, version);
        const found = globSync('usr/lib/*/sssd/libsss_*.so', { cwd: rootfs }).map(
          (path) => /libsss_(?<provider>\w+)\.so$/.exec(path)?.groups?.['provider'],
        );
        for (const provider of ['ad', 'ipa', 'krb5', 'ldap', 'proxy'])
          assert.ok(found.includes(provider), `${provider} is not among ${found.join(', ')}`);
      });
});

describe('no image holds a key that was drawn while it was built: all users of the image would share it', () => {
  // The other images with Slurm have the same content.
  for (const version of slurmVersions)
    for (const name of ['slurmctld', 'slurmd'] as const)
      test(`${name} ${version}`, async () => {
        const { rootfs } = await buildImage(name, version);
        const packaged = new Set(
          globSync('var/lib/dpkg/info/*.list', { cwd: rootfs }).flatMap((list) =>
            readFileSync(join(rootfs, list), 'utf8').split('\n'),
          ),
        );
        const made = globSync('{etc,root,usr/local,var}/**', { cwd: rootfs, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name))
          .filter((path) => !packaged.has(path.slice(rootfs.length)));
        assert.ok(made.includes(join(rootfs, 'etc/passwd')), 'files of the build are found');
        const keys = made.filter(
          (path) => /[._](key|pem|keytab)$/.test(path) || readFileSync(path).includes('PRIVATE KEY'),
        );
        assert.deepEqual(keys, []);
      });
});

for (const version of slurmVersions)
  test(`Slurm ${version}: PMI-2 works, and PMIx ${hasPmix[version] ? 'too' : 'is not in Debian'}`, async () => {
    const sandbox = await createSandbox({ name: `mpi-${version.replace('.', '-')}-${process.pid}` });
    sandboxes.push(sandbox);
    const boxes = new SlurmBoxes(sandbox, await sandbox.addNetwork('lan'), version);
    const ctld = await boxes.controller();
    await boxes.worker('worker-0', ctld);
    const srun = (...args: string[]) =>
      ctld.exec(['srun', ...args], { user: 'slurm', timeoutMs: 120_000, allowFailure: true });
    const ranks = async (type: string, variable: string) => {
      const { stdout, stderr } = await srun(`--mpi=${type}`, '--ntasks=2', 'printenv', variable);
      assert.deepEqual(stdout.trim().split('\n').toSorted(), ['0', '1'], stderr + ctld.logTail());
    };
    await ranks('pmi2', 'PMI_RANK');
    if (hasPmix[version]) await ranks('pmix', 'PMIX_RANK');
    const { stdout, stderr } = await srun('--mpi=list');
    assert.equal(/\bpmix\b/.test(stdout + stderr), hasPmix[version], stdout + stderr);
  });
