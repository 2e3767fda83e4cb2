/** The trial of a configuration, with real slurmctld: a configuration that it runs with passes, one that makes it exit does not. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { buildImage, type SlurmVersion } from '@slurm-operator/images';
import { createSandbox, type Sandbox } from '@slurm-operator/sandbox';
import { mountedFiles } from '../../../testing/mounted-files.ts';
import { aController, aNodeSet, anAccounting, operatorDefaults } from '../../../testing/objects.ts';
import { buildControllerConfig } from '../render/config-map.ts';
import { buildSlurmConf, stateSaveLocation } from '../render/slurm-conf.ts';
import { buildTrialPod } from './config-check.ts';
import { trialHost } from './trial-conf.ts';
import { buildTrialConfig } from './trial-files.ts';

const sandboxes: Sandbox[] = [];
after(async () => {
  for (const sandbox of sandboxes) await sandbox.stop(500);
});

const noScripts = { prolog: [], epilog: [], prologSlurmctld: [], epilogSlurmctld: [] };
const cases: readonly { readonly name: string; readonly extraConf: string; readonly refused?: RegExp }[] = [
  { name: 'a harmless line', extraConf: 'MessageTimeout=33' },
  { name: 'an unknown key', extraConf: 'NoSuchKey=1', refused: /unrecognized key: NoSuchKey/ },
  {
    name: 'a file of completed jobs beside the state of slurmctld',
    extraConf: `JobCompType=jobcomp/filetxt\nJobCompLoc=${stateSaveLocation('hpc_slurm')}/completed/jobs.log`,
  },
  {
    name: 'a file of completed jobs beside the logs of slurmctld',
    extraConf: 'JobCompType=jobcomp/filetxt\nJobCompLoc=/var/log/slurm/jobs.log',
  },
  {
    name: 'a line with something that is no setting',
    extraConf: 'SlurmctldLogFile=/tmp/a nonsense',
    refused: /nonsense/,
  },
  {
    name: 'a partition of unknown nodes',
    extraConf: 'PartitionName=bad Nodes=nowhere',
    refused: /nowhere|invalid node/i,
  },
  {
    name: 'a topology without its file, which slurmctld waits for a minute for before it ends',
    extraConf: 'TopologyPlugin=topology/tree',
    refused: /topology/,
  },
  {
    name: 'node features without their file',
    extraConf: 'NodeFeaturesPlugins=node_features/helpers',
    refused: /helpers/,
  },
  {
    name: 'a TRES that slurmctld does not know',
    extraConf: 'AccountingStorageTRES=bogus',
    refused: /bogus/,
  },
  {
    name: 'a partition twice',
    extraConf: 'PartitionName=compute Nodes=ALL',
    refused: /duplicate.*compute|compute.*duplicate/i,
  },
];

for (const version of ['26.05', '24.11'] satisfies SlurmVersion[])
  for (const { name, extraConf, refused } of cases)
    test(`Slurm ${version}: ${name} ${refused === undefined ? 'passes' : 'fails with its reason'}`, async () => {
      const controller = aController({ extraConf, accountingRef: { name: 'slurm' } });
      const { text } = buildSlurmConf({
        controller,
        accounting: anAccounting(),
        nodeSets: [aNodeSet({ partition: { enabled: true } })],
        scripts: noScripts,
      });
      const config = buildTrialConfig(
        controller,
        buildControllerConfig({ controller, slurmConf: text, accounting: true, userCgroupConf: false }),
      );
      const rendered = Object.keys(config.data ?? {});
      const pod = buildTrialPod({ controller, defaults: operatorDefaults, digest: 'digest', rendered });
      const command = pod.spec?.containers[0]?.command ?? [];
      const image = await buildImage('slurmctld', version);
      const sandbox = await createSandbox({ name: `trial-${sandboxes.length}-${process.pid}` });
      sandboxes.push(sandbox);
      const lan = await sandbox.addNetwork('lan');
      const key = randomBytes(64).toString('hex');
      const box = await sandbox.startBox({
        name: trialHost,
        rootfs: image.rootfs,
        networks: [lan],
        tmpfs: ['/tmp', '/var/log/slurm'],
        files: [
          { path: '/etc/hosts', content: `127.0.0.1 localhost ${trialHost}\n` },
          ...mountedFiles(pod, {
            'slurm-config-check': config.data ?? {},
            'slurm-auth': { 'slurm.key': key },
            'slurm-jwt': { 'jwt.key': key },
          }),
        ],
      });
      await box.exec([
        '/bin/sh',
        '-c',
        'mkdir -p /run/slurmctld && chown 401:401 /run/slurmctld /var/log/slurm',
      ]);
      const { exitCode, stderr } = await box.exec(command, {
        user: '401:401',
        timeoutMs: 180_000,
        allowFailure: true,
      });
      assert.equal(exitCode, refused === undefined ? 0 : 1, stderr);
      if (refused !== undefined) assert.match(stderr, refused);
      await sandbox.stop(500);
    });
