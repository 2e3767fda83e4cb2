/** The trial of a configuration with real slurmctld and slurmd, which share a network as the containers of a pod do. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { buildImage, type SlurmVersion } from '@slurm-operator/images';
import { createSandbox, type RootFile, type Sandbox } from '@slurm-operator/sandbox';
import { aController, aNodeSet } from '../../../testing/objects.ts';
import { buildSlurmConf } from './slurm-conf.ts';
import { slurmctldScript, slurmdScript } from './trial-scripts.ts';

const sandboxes: Sandbox[] = [];
const directories: string[] = [];
after(async () => {
  for (const sandbox of sandboxes) await sandbox.stop(500);
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

const linuxproc = 'ProctrackType=proctrack/linuxproc\n';
interface Case {
  readonly name: string;
  /** The lines in force, and the new ones. */
  readonly now?: string;
  readonly next: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly refused?: RegExp;
  /** The site's own files have changed as well. */
  readonly filesChanged?: boolean;
}

const cases: readonly Case[] = [
  { name: 'a harmless line passes', next: `${linuxproc}MessageTimeout=33` },
  {
    name: 'control groups are disabled and a plugin needs them: slurmd ends, and is quoted',
    next: '',
    refused: /^slurmd of image slurmd:1: it ended: .*fatal: cgroup_g_initialize/,
  },
  {
    name: 'a plugin of slurmd that does not exist: slurmd ends, and is quoted',
    next: 'ProctrackType=proctrack/none_such',
    refused: /slurmd of image slurmd:1: it ended: .*none_such/s,
  },
  {
    name: 'a SPANK plugin that is required and does not exist is quoted',
    next: linuxproc,
    files: { 'plugstack.conf': 'required no_such_plugin.so\n' },
    filesChanged: true,
    refused: /no_such_plugin/,
  },
  {
    name: 'slurmd fails with the lines in force as well: the trial cannot tell, and refuses nothing',
    now: '',
    next: 'MessageTimeout=33',
  },
  {
    name: 'programs of the site are not run, policies and devices of nodes do not count',
    next: `${linuxproc}Prolog=/bin/false
PrologSlurmctld=/bin/false
TaskProlog=/bin/false
SchedulerParameters=defer,sched_interval=600
MaxNodeCount=1
GresTypes=gpu
PartitionName=closed Nodes=ALL Default=YES State=DOWN`,
    files: { 'gres.conf': 'AutoDetect=off\nName=gpu Type=h200 File=/dev/no-such-gpu0\n' },
  },
];

async function tryOn(
  version: SlurmVersion,
  { now = linuxproc, next, files = {}, filesChanged = false }: Case,
) {
  const render = (extraConf: string) =>
    buildSlurmConf({
      controller: aController({ extraConf: `SlurmdParameters=config_overrides\n${extraConf}` }),
      accounting: undefined,
      nodeSets: [aNodeSet({ partition: { enabled: true } })],
      scripts: { prolog: [], epilog: [], prologSlurmctld: [], epilogSlurmctld: [] },
    }).text;
  const sandbox = await createSandbox({ name: `trial-w${sandboxes.length}-${process.pid}` });
  sandboxes.push(sandbox);
  const shared = mkdtempSync(join(tmpdir(), 'trial-'));
  directories.push(shared);
  chmodSync(shared, 0o777);
  const mounts = [{ source: shared, target: '/trial' }];
  const hostname = 'slurm-config-check';
  const key = randomBytes(64).toString('hex');
  // As a kubelet would mount them: of root, readable by the group.
  const mounted = (path: string, content: string): RootFile => ({
    path,
    content,
    mode: 0o550,
    uid: 0,
    gid: 401,
  });
  // The first box of a network has this address.
  const hosts = { path: '/etc/hosts', content: `127.0.0.1 localhost\n10.79.0.2 ${hostname}\n` };
  const slurmctld = await sandbox.startBox({
    name: hostname,
    rootfs: (await buildImage('slurmctld', version)).rootfs,
    networks: [await sandbox.addNetwork('lan')],
    tmpfs: ['/tmp'],
    mounts,
    files: [
      hosts,
      mounted('/etc/slurm/slurm.conf', render(next)),
      mounted('/etc/slurm/cgroup.conf', 'CgroupPlugin=disabled\n'),
      mounted('/etc/slurm/slurm.key', key),
      mounted('/etc/slurm/jwt.key', key),
      mounted('/mnt/current/slurm.conf', render(now)),
      ...Object.entries(files).map(([file, content]) => mounted(`/etc/slurm/${file}`, content)),
    ],
  });
  assert.equal(slurmctld.address, '10.79.0.2');
  await slurmctld.exec(['/bin/sh', '-c', 'mkdir -p /run/slurmctld && chown 401:401 /run/slurmctld']);
  await sandbox.startBox({
    name: 'slurmd-0',
    hostname,
    rootfs: (await buildImage('slurmd', version)).rootfs,
    networkOf: slurmctld,
    tmpfs: ['/tmp'],
    mounts,
    env: { TRIAL_WORKER: '0', TRIAL_IMAGE: 'slurmd:1' },
    files: [hosts, mounted('/etc/slurm/slurm.key', key)],
    command: ['/bin/bash', '-c', slurmdScript],
  });
  const result = await slurmctld.exec(
    [
      '/usr/bin/env',
      'TRIAL_WORKERS=1',
      `TRIAL_COMPARES=${filesChanged ? 'no' : 'yes'}`,
      '/bin/bash',
      '-c',
      slurmctldScript,
    ],
    {
      user: '401:401',
      timeoutMs: 400_000,
      allowFailure: true,
    },
  );
  await sandbox.stop(500);
  return result;
}

for (const version of ['26.05', '24.11'] satisfies SlurmVersion[])
  for (const one of cases)
    test(`Slurm ${version}: ${one.name}`, async () => {
      const { exitCode, stderr } = await tryOn(version, one);
      assert.equal(exitCode, one.refused === undefined ? 0 : 1, stderr);
      if (one.refused !== undefined) assert.match(stderr, one.refused);
    });
