/** Runs images in sandbox boxes the way a container runtime would, as a small Slurm cluster for tests. */
import { randomBytes } from 'node:crypto';
import type { Box, BoxMount, Network, RootFile, Sandbox } from '@slurm-operator/sandbox';
import { buildImage } from '../src/build-image.ts';
import type { ImageName } from '../src/recipes.ts';

export interface RunImageOptions {
  /** @default that of the image */
  readonly entrypoint?: readonly string[];
  readonly args?: readonly string[];
  readonly files?: readonly RootFile[];
  readonly env?: Readonly<Record<string, string>>;
  readonly mounts?: readonly BoxMount[];
}

/** The cluster's addresses are fixed: the network's first box is slurmctld. */
export const controllerAddress = '10.79.0.2';

/** Options of a slurmd that brings its node along, and gets its files from slurmctld. */
export const dynamicWorker = `-Z -b --conf-server '${controllerAddress}:6817'`;

/** A container runtime writes this. Without it slurmctld asks ten times a second apart for its own name when a srun beside it ends. */
const hosts: RootFile = {
  path: '/etc/hosts',
  content: `127.0.0.1 localhost\n::1 localhost\n${controllerAddress} ctld\n`,
};

export class SlurmBoxes {
  readonly sandbox: Sandbox;
  readonly network: Network;
  readonly #version: string;
  readonly #key = randomBytes(64).toString('hex');

  constructor(sandbox: Sandbox, network: Network, version: string) {
    this.sandbox = sandbox;
    this.network = network;
    this.#version = version;
  }

  async run(image: ImageName, name: string, options: RunImageOptions = {}): Promise<Box> {
    const slurm = ['mariadb', 'ldap', 'curl'].includes(image) ? undefined : this.#version;
    const { description, rootfs } = await buildImage(image, slurm);
    const { env, user } = description.config;
    const entrypoint = options.entrypoint ?? description.config.entrypoint ?? [];
    return this.sandbox.startBox({
      name,
      rootfs,
      networks: [this.network],
      command: [...entrypoint, ...(options.args ?? [])],
      env: { ...env, ...options.env },
      ...(user !== undefined && { user }),
      files: [hosts, ...(options.files ?? [])],
      mounts: options.mounts ?? [],
    });
  }

  /** The cluster's key as a file that belongs to `uid`. */
  key(path = '/etc/slurm/slurm.key', uid = 401): RootFile {
    return { path, content: this.#key, mode: 0o600, uid, gid: uid };
  }

  async controller(extraConf = ''): Promise<Box> {
    const box = await this.run('slurmctld', 'ctld', {
      files: [
        { path: '/etc/slurm/slurm.conf', content: slurmConf + extraConf },
        { path: '/etc/slurm/cgroup.conf', content: 'CgroupPlugin=disabled\n' },
        this.key(),
        this.key('/etc/slurm/jwt_hs256.key'),
      ],
    });
    await box.waitForPort(6817);
    return box;
  }

  async worker(name: string, controller: Box, options: RunImageOptions = {}): Promise<Box> {
    const box = await this.run('slurmd', name, {
      env: { SLURMD_OPTIONS: dynamicWorker, ...options.env },
      args: options.args ?? ['--conf', 'CPUs=2 RealMemory=2000'],
      files: [this.key(), ...(options.files ?? [])],
    });
    await box.waitForPort(6818);
    await box.waitFor('registration', async () => {
      const node = await controller.exec(['sinfo', '--noheader', '--nodes', name, '--format=%T'], {
        allowFailure: true,
      });
      return node.stdout.trim() === 'idle';
    });
    return box;
  }
}

export const slurmConf = `ClusterName=images
SlurmctldHost=ctld(${controllerAddress})
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
