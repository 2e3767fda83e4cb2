/** What we render, real slurmctld accepts: every configuration of the matrix, on both versions of Slurm. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { buildImage, imageTag, slurmVersions } from '@slurm-operator/images';
import { createSandbox, type Sandbox } from '@slurm-operator/sandbox';
import { aController, aNodeSet } from '../../../testing/objects.ts';
import { buildSlurmConf, type SlurmConfInput, stateSaveLocation } from './slurm-conf.ts';

const sandboxes: Sandbox[] = [];
after(async () => {
  for (const sandbox of sandboxes) await sandbox.stop(500);
});

const noScripts = { prolog: [], epilog: [], prologSlurmctld: [], epilogSlurmctld: [] };
const sets = [
  aNodeSet({ partition: { enabled: true, config: 'State=UP MaxTime=UNLIMITED Default=YES' } }, { name: 'b' }),
  aNodeSet({ template: { spec: { hostname: 'gpu-' } }, partition: { enabled: true } }, { name: 'a' }),
  aNodeSet({}, { name: 'without-partition' }),
];
const matrix: Record<string, Partial<SlurmConfInput>> = {
  minimal: {},
  'with sets and partitions': { nodeSets: sets },
  'with lines of the user': {
    nodeSets: sets,
    controller: aController({
      clusterName: 'prod_1',
      maxNodeCount: 65_533,
      extraConf: [
        '# a comment, and a line that goes on',
        'SchedulerParameters=batch_sched_delay=0,\\',
        'sched_interval=1',
        'ReturnToService=1',
        'SlurmctldParameters=idle_on_node_suspend',
        'AuthInfo=cred_expire=300',
        'PartitionName=all Nodes=ALL Default=NO',
      ].join('\n'),
    }),
  },
  'with scripts': {
    scripts: { prolog: ['p.sh'], epilog: ['e.sh'], prologSlurmctld: ['pc.sh'], epilogSlurmctld: ['ec.sh'] },
  },
  'with metrics, where there are any': { controller: aController({ metrics: { enabled: true } }) },
  'on another port': { controller: aController({ service: { port: 16_817 } }) },
};

for (const version of slurmVersions)
  for (const [name, over] of Object.entries(matrix))
    test(`Slurm ${version} runs with a slurm.conf that is ${name}`, async () => {
      const input: SlurmConfInput = {
        controller: aController(),
        accounting: undefined,
        nodeSets: [],
        scripts: noScripts,
        image: imageTag('slurmctld', version),
        ...over,
      };
      const { text, complaints } = buildSlurmConf(input);
      assert.deepEqual(complaints, []);
      const image = await buildImage('slurmctld', version);
      const sandbox = await createSandbox({ name: `conf-${sandboxes.length}-${process.pid}` });
      sandboxes.push(sandbox);
      const lan = await sandbox.addNetwork('lan');
      const key = randomBytes(64).toString('hex');
      const owned = { mode: 0o600, uid: 401, gid: 401 };
      const state = input.controller.spec.clusterName ?? 'hpc_slurm';
      const directory = stateSaveLocation(state);
      const script = { content: '#!/bin/sh\nexit 0\n', mode: 0o755 };
      const { config } = image.description;
      const box = await sandbox.startBox({
        name: 'slurm-controller-0',
        rootfs: image.rootfs,
        networks: [lan],
        // A kubelet would have prepared the volumes.
        command: [
          '/bin/sh',
          '-c',
          `mkdir -p /run/slurmctld ${directory} && chown 401:401 /run/slurmctld ${directory} && exec setpriv --reuid 401 --regid 401 --clear-groups "$@"`,
          'sh',
          ...(config.entrypoint ?? []),
        ],
        env: { ...config.env },
        files: [
          {
            path: '/etc/hosts',
            content: '127.0.0.1 localhost slurm-controller-0 slurm-controller-0.hpc\n',
          },
          { path: '/etc/slurm/slurm.conf', content: text },
          { path: '/etc/slurm/cgroup.conf', content: 'CgroupPlugin=disabled\n' },
          { path: '/etc/slurm/slurm.key', content: key, ...owned },
          { path: '/etc/slurm/jwt.key', content: key, ...owned },
          ...['p.sh', 'e.sh', 'pc.sh', 'ec.sh'].map((file) => ({ path: `/etc/slurm/${file}`, ...script })),
        ],
      });
      const port = input.controller.spec.service?.port ?? 6817;
      await box.waitForPort(port, { timeoutMs: 120_000 });
      const show = await box.exec(['scontrol', 'show', 'config'], { user: '401:401', timeoutMs: 120_000 });
      assert.match(show.stdout, new RegExp(`SlurmctldPort\\s+= ${port}\\b`));
      assert.match(show.stdout, new RegExp(`ClusterName\\s+= ${state}\\b`));
      assert.match(show.stdout, /SlurmctldParameters\s+= .*enable_configless/);
      const partitions = await box.exec(['scontrol', 'show', 'partitions', '--oneliner'], {
        timeoutMs: 120_000,
      });
      for (const set of input.nodeSets.filter(({ spec }) => spec.partition.enabled))
        assert.match(
          partitions.stdout,
          new RegExp(`PartitionName=${set.metadata.name === 'a' ? 'gpu' : 'b'}\\b`),
        );
      await sandbox.stop(500);
    });
