import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { type Box, createSandbox, type Network, type RootFile, type Sandbox } from '@slurm-operator/sandbox';
import { type BuiltImage, buildImage } from './build-image.ts';
import { slurmVersions } from './slurm-version.ts';

const sandboxes: Sandbox[] = [];
after(async () => {
  for (const sandbox of sandboxes) await sandbox.stop(500);
});

/** A box that runs an image the way a container runtime would: its entrypoint, user and environment. */
async function runImage(
  sandbox: Sandbox,
  network: Network,
  name: string,
  image: BuiltImage,
  options: { args?: readonly string[]; files?: readonly RootFile[]; env?: Record<string, string> } = {},
): Promise<Box> {
  const { config } = image.description;
  return sandbox.startBox({
    name,
    rootfs: image.rootfs,
    networks: [network],
    command: [...(config.entrypoint ?? []), ...(options.args ?? [])],
    env: { ...config.env, ...options.env },
    ...(config.user !== undefined && { user: config.user }),
    files: options.files ?? [],
  });
}

const slurmConf = `ClusterName=images
SlurmctldHost=ctld(10.79.0.2)
SlurmUser=slurm
AuthType=auth/slurm
CredType=auth/slurm
AuthInfo=use_client_ids
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=/etc/slurm/jwt_hs256.key
SlurmctldParameters=enable_configless
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MaxNodeCount=8
ProctrackType=proctrack/linuxproc
JobAcctGatherType=jobacct_gather/linux
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SchedulerParameters=batch_sched_delay=0,sched_interval=1
PartitionName=all Nodes=ALL Default=YES State=UP
`;

for (const version of slurmVersions) {
  test(`Slurm ${version}: a job runs on the slurmctld and slurmd images, and slurmrestd answers`, async () => {
    const sandbox = await createSandbox({ name: `images-${version.replace('.', '-')}-${process.pid}` });
    sandboxes.push(sandbox);
    const lan = await sandbox.addNetwork('lan');
    const key = randomBytes(64).toString('hex');
    const keyFile = (uid: number, path = '/etc/slurm/slurm.key'): RootFile => ({
      path,
      content: key,
      mode: 0o600,
      uid,
      gid: uid,
    });
    const conf = { path: '/etc/slurm/slurm.conf', content: slurmConf };
    const ctld = await runImage(sandbox, lan, 'ctld', await buildImage('slurmctld', version), {
      args: ['-vv'],
      files: [
        conf,
        { path: '/etc/slurm/cgroup.conf', content: 'CgroupPlugin=disabled\n' },
        keyFile(401),
        keyFile(401, '/etc/slurm/jwt_hs256.key'),
      ],
    });
    assert.equal(ctld.address, '10.79.0.2');
    await ctld.waitForPort(6817);
    const worker = await runImage(sandbox, lan, 'worker-0', await buildImage('slurmd', version), {
      env: { SLURMD_OPTIONS: `-Z -b --conf-server '10.79.0.2:6817'`, POD_CPUS: '1', POD_MEMORY: '1500' },
      args: ['--conf', 'CPUs=2 RealMemory=2000 Feature=$(touch${IFS}/evaluated)'],
      files: [keyFile(401)],
    });
    await worker.waitForPort(6818);
    await worker.waitFor('registration', async () => {
      const { stdout } = await ctld.exec(['sinfo', '--noheader', '--format=%T'], { allowFailure: true });
      return stdout.trim() === 'idle';
    });
    const { stdout } = await ctld.exec(['srun', '--ntasks=1', 'hostname'], {
      user: 'slurm',
      timeoutMs: 30_000,
    });
    assert.equal(stdout.trim(), 'worker-0');
    const node = (await ctld.exec(['scontrol', 'show', 'node', 'worker-0'])).stdout;
    assert.match(node, /MemSpecLimit=500\b/, 'POD_MEMORY reserves the rest of the node');
    assert.match(node, /CoreSpecCount=1\b/, 'POD_CPUS reserves the other cores');
    assert.match(node, /ActiveFeatures=\$\(touch\$\{IFS\}\/evaluated\)/, 'options are text, not shell');
    assert.equal((await worker.exec(['test', '-e', '/evaluated'], { allowFailure: true })).exitCode, 1);

    const rest = await runImage(sandbox, lan, 'rest', await buildImage('slurmrestd', version), {
      args: ['-s', 'slurmctld', '0.0.0.0:6820'],
      env: { SLURM_JWT: 'daemon' },
      files: [conf],
    });
    await rest.waitForPort(6820);
    const { port } = await sandbox.forward({ address: rest.address, port: 6820 });
    const response = await fetch(`http://127.0.0.1:${port}/slurm/v0.0.42/ping/`);
    assert.equal(response.status, 401, 'it is there and wants a token');
    for (const box of [ctld, worker]) {
      await box.stop(10_000);
      assert.equal((await box.exit).signal, null, `${box.name} ends on SIGTERM by itself`);
    }
  });
}
