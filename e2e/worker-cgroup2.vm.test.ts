/**
 * Workers on cgroup v2, which every current Kubernetes node has: our images, the pod that the operator builds and the container
 * settings that a kubelet gives it, in a virtual machine whose only cgroup hierarchy is cgroup2. `VM=full` adds what takes longer
 * and Slurm 24.11.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { vmObstacle, waitUntil } from '@slurm-operator/sandbox';
import { GuestCluster } from './src/guest/guest-cluster.ts';

const full = process.env['VM'] === 'full';
const obstacle = vmObstacle();

const constrained = {
  extraConf: [
    'TaskPlugin=task/cgroup,task/affinity',
    'JobAcctGatherType=jobacct_gather/cgroup',
    'SelectTypeParameters=CR_Core_Memory',
    'DefMemPerCPU=100',
  ].join('\n'),
  cgroupConf:
    'CgroupPlugin=autodetect\nIgnoreSystemd=yes\nConstrainCores=yes\nConstrainRAMSpace=yes\nConstrainSwapSpace=yes\n',
};

function report({ vm }: GuestCluster, slurm: string, began: number): void {
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  console.log(
    `Slurm ${slurm} on Linux ${vm.kernelRelease} (${vm.accelerator}): booted in ${vm.bootSeconds.toFixed(1)} s, ${minutes} min in all`,
  );
}

const releases = full ? ['26.05', '24.11'] : ['26.05'];

for (const slurm of releases)
  suite(`a privileged worker of Slurm ${slurm} on cgroup v2`, { skip: obstacle ?? false }, () => {
    let cluster: GuestCluster;
    let began: number;

    before(async () => {
      began = performance.now();
      cluster = await GuestCluster.boot({ slurm, ...constrained });
      await cluster.startController();
      await cluster.startWorker({ privileged: true });
    });

    after(async () => {
      if (cluster === undefined) return;
      report(cluster, slurm, began);
      await cluster.vm.stop();
    });

    test('a job has the cores and the memory that it asked for, and no more', async () => {
      const id = await cluster.submit(
        '--ntasks=1 --mem=100',
        'group=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)\n' +
          'echo "$(nproc) $(cat $group/../memory.max)" >/tmp/limits',
      );
      assert.equal(await cluster.jobEnd(id), 'COMPLETED');
      assert.equal((await cluster.worker.exec('cat /tmp/limits')).stdout.trim(), `1 ${100 * 2 ** 20}`);
    });

    test('a job over its memory is killed, and its neighbour is not', async () => {
      const calm = await cluster.submit(
        '--ntasks=1 --mem=100',
        'touch /tmp/calm; while [[ -e /tmp/calm ]]; do sleep 1; done',
      );
      await cluster.jobRuns(calm);
      const hog = await cluster.submit(
        '--ntasks=1 --mem=50',
        'exec perl -e \'$x = "x" x (200 << 20); sleep 60\'',
      );
      assert.equal(await cluster.jobEnd(hog), 'OUT_OF_MEMORY');
      assert.equal(await cluster.jobState(calm), 'RUNNING');
      await cluster.worker.exec('rm /tmp/calm');
      assert.equal(await cluster.jobEnd(calm), 'COMPLETED');
    });

    test('a job outlives a reconfigure, and a slurmd that is killed', async () => {
      const id = await cluster.submit(
        '--ntasks=1',
        'touch /tmp/long; while [[ -e /tmp/long ]]; do sleep 1; done',
      );
      await cluster.jobRuns(id);
      await cluster.slurm('scontrol reconfigure');
      const first = (await cluster.worker.exec('pgrep --full "^slurmd -D"')).stdout.trim();
      await cluster.worker.exec(`kill -KILL ${first}`);
      await waitUntil(
        'another slurmd',
        async () => {
          const { stdout } = await cluster.worker.exec('pgrep --full "^slurmd -D"', { allowFailure: true });
          return stdout.trim() !== '' && stdout.trim() !== first;
        },
        { timeoutMs: 600_000, intervalMs: 500 },
      );
      await cluster.worker.exec('rm /tmp/long');
      assert.equal(await cluster.jobEnd(id), 'COMPLETED', await cluster.worker.log());
    });

    test('ssh lands in the cgroup of the job, and is refused without a job', {
      skip: full ? false : 'VM=full runs it',
    }, async () => {
      const ssh =
        'ssh -o StrictHostKeyChecking=no -o BatchMode=yes -i /volumes/ssh alice@10.79.0.2 cat /proc/self/cgroup';
      const refused = await cluster.vm.run(ssh, { allowFailure: true });
      assert.notEqual(refused.exitCode, 0, refused.stdout);
      const id = await cluster.submit('--ntasks=1', 'while [[ ! -e /tmp/visited ]]; do sleep 1; done', {
        asAlice: true,
      });
      await cluster.jobRuns(id);
      const { stdout } = await cluster.vm.run(ssh);
      assert.match(stdout, /\/step_extern\//);
      await cluster.worker.exec('touch /tmp/visited');
      assert.equal(await cluster.jobEnd(id), 'COMPLETED');
    });

    test('a restarted container works, and leaves no job groups behind', {
      skip: full ? false : 'VM=full runs it',
    }, async () => {
      const lost = await cluster.submit('--ntasks=1 --no-requeue', 'sleep 600');
      await cluster.jobRuns(lost);
      await cluster.worker.remove();
      await cluster.startWorker({ privileged: true });
      await cluster.slurm(`scancel ${lost}`, true);
      await cluster.jobEnd(lost);
      const id = await cluster.submit('--ntasks=1', 'true');
      assert.equal(await cluster.jobEnd(id), 'COMPLETED');
      const groups = await waitUntil(
        'the groups of ended jobs to be removed',
        async () => {
          const { stdout } = await cluster.vm.run(
            `find /sys/fs/cgroup/kubepods -path '*slurmstepd.scope/*' -type d | sed 's/.*scope//' | sort`,
          );
          return /step_/.test(stdout) ? undefined : stdout.trim() || 'none';
        },
        { timeoutMs: 600_000, intervalMs: 1000 },
      );
      assert.doesNotMatch(groups, /step_|\/job_|\/s[0-9A-Z]{10}/);
    });
  });

for (const slurm of releases)
  suite(`an unprivileged worker of Slurm ${slurm} on cgroup v2`, {
    skip: obstacle ?? (full ? false : 'VM=full runs it'),
  }, () => {
    test('runs and cancels jobs without control groups, as the how-to configures it', async () => {
      const began = performance.now();
      const cluster = await GuestCluster.boot({
        slurm,
        extraConf: [
          'ProctrackType=proctrack/linuxproc',
          'TaskPlugin=task/none',
          'JobAcctGatherType=jobacct_gather/none',
          'SelectTypeParameters=CR_CPU',
        ].join('\n'),
        cgroupConf: 'CgroupPlugin=disabled\n',
      });
      try {
        await cluster.startController();
        await cluster.startWorker({ privileged: false });
        assert.equal(await cluster.jobEnd(await cluster.submit('--ntasks=1', 'true')), 'COMPLETED');
        const long = await cluster.submit('--ntasks=1', 'sleep 600');
        await cluster.jobRuns(long);
        await cluster.slurm(`scancel ${long}`);
        assert.equal(await cluster.jobEnd(long), 'CANCELLED');
      } finally {
        report(cluster, slurm, began);
        await cluster.vm.stop();
      }
    });
  });
