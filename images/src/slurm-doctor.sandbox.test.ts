/** slurm-doctor of the login image, asked by people about jobs of a real Slurm. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Box, createSandbox, type Sandbox } from '@slurm-operator/sandbox';
import { controllerAddress, SlurmBoxes } from '../testing/slurm-boxes.ts';
import { slurmVersions } from './slurm-version.ts';

const sandboxes: Sandbox[] = [];
after(async () => {
  for (const sandbox of sandboxes) await sandbox.stop(500);
});

const people = {
  path: '/etc/passwd.people',
  content: 'alice:x:5001:5001::/tmp:/bin/sh\nbob:x:5002:5002::/tmp:/bin/sh\n',
};

for (const version of slurmVersions) {
  test(`Slurm ${version}: slurm-doctor explains waiting jobs and drained nodes on a login node`, async () => {
    const sandbox = await createSandbox({ name: `doctor-${version.replace('.', '-')}-${process.pid}` });
    sandboxes.push(sandbox);
    const boxes = new SlurmBoxes(sandbox, await sandbox.addNetwork('lan'), version);
    const ctld = await boxes.controller('PartitionName=short Nodes=ALL MaxTime=10 State=UP\n');
    await boxes.worker('worker-0', ctld);
    await boxes.worker('worker-1', ctld);
    const login = await boxes.run('login', 'login', {
      env: { SACKD_OPTIONS: `--conf-server ${controllerAddress}:6817` },
      files: [boxes.key(), people],
    });
    for (const box of [ctld, login, ...sandbox.boxes.filter(({ name }) => name.startsWith('worker'))])
      await box.exec(['sh', '-c', 'cat >>/etc/passwd'], { input: people.content });
    await login.waitFor('the configuration', async () => {
      const cached = await login.exec(['test', '-e', '/run/slurm/conf/slurm.conf'], { allowFailure: true });
      return cached.exitCode === 0;
    });
    const as = (user: string, ...command: string[]) =>
      login.exec(command, { user, env: { HOME: '/tmp', TZ: 'UTC' }, allowFailure: true, timeoutMs: 120_000 });
    const submit = async (user: string, ...options: string[]) => {
      const { stdout, stderr } = await as(user, 'sbatch', '--parsable', '--chdir=/tmp', ...options);
      assert.match(stdout, /^\d+\n$/, stderr);
      return stdout.trim();
    };
    const doctor = (user: string, ...words: string[]) => as(user, 'slurm-doctor', ...words);
    const explains = async (words: readonly string[], says: RegExp, code: number) => {
      let last = '';
      await login
        .waitFor(`slurm-doctor ${words.join(' ')} to say ${says}`, async () => {
          const { stdout, stderr, exitCode } = await doctor('alice', ...words);
          last = `${exitCode}: ${stdout}${stderr}`;
          return exitCode === code && says.test(stdout);
        })
        .catch((error: unknown) => assert.fail(`${String(error)}\n${last}`));
      assert.doesNotMatch(last, /undefined|NaN|\[object/);
      return last;
    };

    assert.match((await doctor('alice')).stdout, /^No job of alice waits\.\n$/);

    await submit('bob', '-w', 'worker-0', '--exclusive', '--time=10', '--wrap', 'sleep 600');
    await isRunning(ctld, 'worker-0');
    const wide = await submit('alice', '-N', '2', '--exclusive', '--time=5', '--wrap', 'true');
    const shown = await explains([wide], /F2 +Resources: it asks for 2 nodes/, 0);
    assert.match(shown, /1 more node is free by \d\d:\d\d \(job \d+ reaches its limit\)/);
    const long = await submit('alice', '-p', 'short', '--time=60', '--wrap', 'true');
    await explains([`job/${long}`], /F7 +.*allows 00:10:00[\s\S]*Do +scontrol update jobid=\d+/, 1);
    const all = await explains([], /job \d+ [\s\S]*F2 [\s\S]*job \d+ [\s\S]*F7 /, 1);
    assert.doesNotMatch(all, /kubectl/);

    await ctld.exec(['scontrol', 'update', 'nodename=worker-1', 'state=drain', 'reason=new disk'], {
      user: 'slurm',
    });
    await explains(['node/worker-1'], /E2 +worker-1 is drained by slurm, .*"new disk"/, 1);

    const both = await explains([wide], /E2 [\s\S]*F2 [\s\S]*worker-1 \("new disk"\)/, 1);
    assert.doesNotMatch(both, /Not checked/);
    // Of an array that waits Slurm has one record; a task of another number has none.
    const array = await submit('alice', '--array=3-9%2', '-N', '2', '--exclusive', '--wrap', 'true');
    await explains([`${array}_4`], new RegExp(`^job ${array} · [^\n]*PENDING`), 1);
    const none = await doctor('alice', `${array}_1`);
    assert.deepEqual([none.exitCode, none.stdout], [2, '']);
    assert.match(none.stderr, new RegExp(`does not know job ${array}_1:`));
    const unknown = await doctor('alice', '99999');
    assert.equal(unknown.exitCode, 2);
    assert.match(unknown.stderr, /^slurm-doctor: Slurm does not know job 99999: .*\n$/);
    const wrong = await doctor('alice', 'node/none');
    assert.match(wrong.stderr, /^slurm-doctor: Slurm has no node none; sinfo lists those there are\.\n$/);

    await ctld.stop(10_000);
    const silent = await doctor('alice');
    assert.equal(silent.exitCode, 2, silent.stdout);
    assert.match(silent.stderr, /^slurm-doctor: squeue .*\n$/);
  });
}

const isRunning = (ctld: Box, node: string) =>
  ctld.waitFor(`a job on ${node}`, async () => {
    const { stdout } = await ctld.exec(['squeue', '-h', '-t', 'R', '-w', node, '-o', '%i'], {
      user: 'slurm',
    });
    return stdout.trim() !== '';
  });
