/** The trial of a configuration with real slurmctld and slurmd, which share a network as the containers of a pod do. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { buildImage, type SlurmVersion } from '@slurm-operator/images';
import { createSandbox, type Sandbox } from '@slurm-operator/sandbox';
import { mountedFiles } from '../../../testing/mounted-files.ts';
import { aController, aNodeSet, operatorDefaults } from '../../../testing/objects.ts';
import { buildControllerConfig } from '../render/config-map.ts';
import { buildSlurmConf } from '../render/slurm-conf.ts';
import { buildTrialPod } from './config-check.ts';
import { trialHost } from './trial-conf.ts';
import { buildTrialConfig } from './trial-files.ts';
import { distinctTrialWorkers } from './trial-worker.ts';

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
  readonly report?: RegExp;
  /** The site's own files have changed as well. */
  readonly filesChanged?: boolean;
  /** With the resources of a worker, which has one GPU. */
  readonly onNode?: boolean;
}

const cases: readonly Case[] = [
  { name: 'a harmless line passes', next: `${linuxproc}MessageTimeout=33` },
  {
    name: 'control groups are disabled and a plugin needs them: slurmd ends, and is quoted',
    next: '',
    report: /^slurmd \w+ new failed it ended: .*fatal: cgroup_g_initialize.*\nslurmd \w+ current passed\n$/,
  },
  {
    name: 'a plugin of slurmd that does not exist: slurmd ends, and is quoted',
    next: 'ProctrackType=proctrack/none_such',
    report: /new failed it ended: .*none_such.*\nslurmd \w+ current passed/,
  },
  {
    name: 'a SPANK plugin that is required and does not exist is quoted',
    next: linuxproc,
    files: { 'plugstack.conf': 'required no_such_plugin.so\n' },
    filesChanged: true,
    report: /^slurmd \w+ new failed .*no_such_plugin.*\n$/,
  },
  {
    name: 'slurmd fails with the lines in force as well: both reasons are reported, and they are the same',
    now: '',
    next: 'MessageTimeout=33',
    report: /^slurmd \w+ new failed (.*cgroup_g_initialize.*)\nslurmd \w+ current failed \1\n$/,
  },
  {
    name: 'slurmd fails with the lines in force for another reason: both are reported',
    now: 'ProctrackType=proctrack/none_such',
    next: '',
    report: /new failed .*cgroup_g_initialize.*\nslurmd \w+ current failed .*none_such/,
  },
  {
    name: 'with the resources of a worker its devices count: one that exists passes',
    next: `${linuxproc}GresTypes=gpu`,
    files: { 'gres.conf': 'Name=gpu File=/dev/zero\n' },
    onNode: true,
  },
  {
    name: 'with the resources of a worker its devices count: one that does not exist is quoted',
    next: `${linuxproc}GresTypes=gpu`,
    files: { 'gres.conf': 'Name=gpu File=/dev/no-such-gpu0\n' },
    filesChanged: true,
    onNode: true,
    report: /new failed it ended: .*no-such-gpu0/,
  },
  {
    name: 'programs of the site are not run, policies and devices of nodes do not count',
    next: `${linuxproc}Prolog=/bin/false
PrologSlurmctld=/bin/false
TaskProlog=/bin/false
SchedulerParameters=defer,sched_interval=600
MaxNodeCount=100
NodeName=static[1-90] State=FUTURE CPUs=1
TopologyPlugin=topology/tree
GresTypes=gpu
PartitionName=closed Nodes=ALL Default=YES State=DOWN`,
    files: {
      'gres.conf': 'AutoDetect=off\nName=gpu Type=h200 File=/dev/no-such-gpu0\n',
      'topology.conf': 'SwitchName=all Nodes=static[1-90]\n',
    },
  },
];

const nodeSet = aNodeSet({
  partition: { enabled: true },
  slurmd: { resources: { limits: { 'nvidia.com/gpu': 1 } } },
});
const [group] = distinctTrialWorkers([{ image: 'slurmd:1', nodeSet }]);
assert.ok(group !== undefined);

async function tryOn(
  version: SlurmVersion,
  { now = linuxproc, next, files = {}, filesChanged = false, onNode = false }: Case,
) {
  const controllerOf = (extraConf: string) =>
    aController({
      extraConf: `SlurmdParameters=config_overrides\n${extraConf}`,
      configFileRefs: [{ name: 'site' }],
    });
  const controller = controllerOf(next);
  const configOf = (extraConf: string) =>
    buildControllerConfig({
      controller,
      slurmConf: buildSlurmConf({
        controller: controllerOf(extraConf),
        accounting: undefined,
        nodeSets: [nodeSet],
        scripts: { prolog: [], epilog: [], prologSlurmctld: [], epilogSlurmctld: [] },
      }).text,
      accounting: false,
      userCgroupConf: true,
    });
  const site = { 'cgroup.conf': 'CgroupPlugin=disabled\n', ...files };
  const config = buildTrialConfig(controller, configOf(next), {
    current: filesChanged ? undefined : configOf(now).data,
    gresConf: files['gres.conf'],
  });
  const pod = buildTrialPod({
    controller,
    defaults: operatorDefaults,
    digest: 'digest',
    part: { id: '', scope: onNode ? 'node' : 'image', workers: [group as NonNullable<typeof group>] },
    rendered: Object.keys(config.data ?? {}),
    files: [{ name: 'site', keys: Object.keys(site) }],
  });
  const [ofSlurmctld, ofSlurmd] = pod.spec?.containers ?? [];
  const env = (of: typeof ofSlurmd) =>
    Object.fromEntries((of?.env ?? []).map(({ name, value }) => [name, value ?? '']));
  const sandbox = await createSandbox({ name: `trial-w${sandboxes.length}-${process.pid}` });
  sandboxes.push(sandbox);
  const shared = mkdtempSync(join(tmpdir(), 'trial-'));
  directories.push(shared);
  chmodSync(shared, 0o777);
  const mounts = [{ source: shared, target: '/trial' }];
  const key = randomBytes(64).toString('hex');
  // The first box of a network has this address.
  const hosts = { path: '/etc/hosts', content: `127.0.0.1 localhost\n10.79.0.2 ${trialHost}\n` };
  const mounted = mountedFiles(pod, {
    'slurm-config-check': config.data ?? {},
    'slurm-auth': { 'slurm.key': key },
    'slurm-jwt': { 'jwt.key': key },
    site,
  });
  const slurmctld = await sandbox.startBox({
    name: trialHost,
    rootfs: (await buildImage('slurmctld', version)).rootfs,
    networks: [await sandbox.addNetwork('lan')],
    tmpfs: ['/tmp'],
    mounts,
    files: [hosts, ...mounted],
  });
  assert.equal(slurmctld.address, '10.79.0.2');
  await slurmctld.exec(['/bin/sh', '-c', 'mkdir -p /run/slurmctld && chown 401:401 /run/slurmctld']);
  await sandbox.startBox({
    name: 'slurmd-0',
    hostname: trialHost,
    rootfs: (await buildImage('slurmd', version)).rootfs,
    networkOf: slurmctld,
    tmpfs: ['/tmp'],
    mounts,
    env: env(ofSlurmd),
    files: [hosts, ...mounted.filter(({ path }) => path === '/etc/slurm/slurm.key')],
    command: ofSlurmd?.command ?? [],
  });
  const variables = { ...env(ofSlurmctld), TRIAL_REPORT: '/tmp/report' };
  const { exitCode, stderr } = await slurmctld.exec(
    [
      '/usr/bin/env',
      ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      ...(ofSlurmctld?.command ?? []),
    ],
    { user: '401:401', timeoutMs: 400_000, allowFailure: true },
  );
  const report = await slurmctld.exec(['/bin/sh', '-c', 'cat /tmp/report 2>/dev/null || true']);
  await sandbox.stop(500);
  return { exitCode, stderr, report: report.stdout };
}

for (const version of ['26.05', '24.11'] satisfies SlurmVersion[])
  for (const one of cases)
    test(`Slurm ${version}: ${one.name}`, async () => {
      const { exitCode, stderr, report } = await tryOn(version, one);
      assert.equal(exitCode, one.report === undefined ? 0 : 1, stderr);
      assert.match(report, one.report ?? /^$/);
    });
