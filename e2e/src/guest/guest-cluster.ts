/** A Slurm cluster of one slurmctld and one worker in a virtual machine whose only cgroup hierarchy is cgroup2. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuiltImage, buildImage } from '@slurm-operator/images';
import type { Pod } from '@slurm-operator/localcluster/testing';
import {
  aController,
  aNodeSet,
  buildControllerConfig,
  buildSlurmConf,
  workerSshConfig,
  workerTemplate,
} from '@slurm-operator/operator/testing';
import { Vm, waitUntil } from '@slurm-operator/sandbox';
import { type ContainerRequest, GuestContainer } from './guest-containers.ts';

export interface GuestClusterOptions {
  readonly slurm: string;
  /** Lines for slurm.conf. */
  readonly extraConf?: string;
  /** What a user's own cgroup.conf would be. @default the one that the operator writes */
  readonly cgroupConf?: string;
  readonly signal?: AbortSignal;
}

type Images = Readonly<Record<'slurmctld' | 'slurmd', BuiltImage>>;

/** An emulated machine beside other work is slow: a wait that is met costs nothing. */
const timeoutMs = 600_000;

const workerName = 'compute-0';
const address = '10.79.0.2';

export class GuestCluster {
  readonly vm: Vm;
  readonly #options: GuestClusterOptions;
  readonly #images: Images;
  #runs = 0;
  #controller: GuestContainer | undefined;
  #worker: GuestContainer | undefined;

  private constructor(vm: Vm, images: Images, options: GuestClusterOptions) {
    this.vm = vm;
    this.#images = images;
    this.#options = options;
  }

  static async boot(options: GuestClusterOptions): Promise<GuestCluster> {
    const slurmctld = await buildImage('slurmctld', options.slurm);
    const slurmd = await buildImage('slurmd', options.slurm);
    const key = randomBytes(64).toString('hex');
    const vm = await Vm.boot({
      packages: ['runc', 'openssh-client'],
      modules: ['overlay', 'dummy'],
      memoryMiB: 6144,
      trees: [
        { source: slurmctld.rootfs, target: '/images/slurmctld' },
        { source: slurmd.rootfs, target: '/images/slurmd' },
      ],
      files: [{ path: '/volumes/slurm.key', content: key, mode: 0o600 }],
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const cluster = new GuestCluster(vm, { slurmctld, slurmd }, options);
    await cluster.#writeVolumes();
    return cluster;
  }

  get controller(): GuestContainer {
    if (this.#controller === undefined) throw new Error('slurmctld was not started');
    return this.#controller;
  }

  get worker(): GuestContainer {
    if (this.#worker === undefined) throw new Error('the worker was not started');
    return this.#worker;
  }

  async startController(): Promise<void> {
    this.#controller = await this.#start({
      pod: podOf('slurm-controller-0', { securityContext: { fsGroup: 401 } }),
      container: { name: 'slurmctld', securityContext: { capabilities: { drop: ['ALL'] } } },
      image: this.#images.slurmctld,
      rootfs: '/images/slurmctld',
      mounts: {
        '/etc/slurm': '/volumes/controller',
        '/etc/hosts': '/volumes/hosts',
        '/var/spool/slurmctld': '/volumes/state',
      },
      files: this.#accounts(this.#images.slurmctld),
    });
    await this.#until(
      'slurmctld to answer',
      async () => (await this.slurm('scontrol ping', true)).includes('UP'),
      this.controller,
    );
  }

  /** As the operator makes it from a NodeSet, and as a kubelet starts it. */
  async startWorker({ privileged }: { readonly privileged: boolean }): Promise<void> {
    const set = aNodeSet({
      ...nodeSetSpec,
      slurmd: {
        image: this.#images.slurmd.tag,
        resources: { limits: { cpu: '2', memory: '2Gi' } },
        ...(privileged ? {} : { securityContext: { privileged: false } }),
      },
    });
    const template = workerTemplate(set, this.#controllerObject(), {
      clusterDomain: 'cluster.local',
      defaultImage: this.#images.slurmd.tag,
    });
    const [container] = template.spec.containers;
    if (container === undefined) throw new Error('the worker has no container');
    this.#worker = await this.#start({
      pod: podOf(workerName, { ...template.spec, hostname: workerName }),
      container,
      image: this.#images.slurmd,
      rootfs: '/images/slurmd',
      mounts: {
        '/etc/slurm': '/volumes/worker',
        '/etc/hosts': '/volumes/hosts',
        '/etc/ssh/sshd_config': '/volumes/sshd_config',
        '/etc/sssd/sssd.conf': '/volumes/sssd.conf',
      },
      files: [
        ...this.#accounts(this.#images.slurmd),
        {
          path: '/home/alice/.ssh/authorized_keys',
          content: (await this.vm.run('cat /volumes/ssh.pub')).stdout,
          mode: '0600',
          owner: '5001:5001',
        },
      ],
    });
    await this.#until(
      'the worker to register and be idle',
      async () =>
        /^(idle|mixed|allocated)$/.test((await this.slurm(`sinfo -h -n ${workerName} -o %T`, true)).trim()),
      this.worker,
    );
  }

  /** Submits a script, as root or as Alice, who has a token instead of the key, and returns the job's id. */
  async submit(options: string, script: string, { asAlice = false } = {}): Promise<string> {
    const token = asAlice ? await this.slurm('scontrol token username=alice') : '';
    const { stdout } = await this.controller.exec(
      `cd /tmp && ${token.trim()} sbatch --parsable --output=/dev/null ${options} <<'END_OF_JOB'\n#!/bin/bash\n${script}\nEND_OF_JOB`,
      { user: asAlice ? '5001:5001' : '0:0' },
    );
    return stdout.trim();
  }

  async jobState(id: string): Promise<string> {
    return /JobState=(\w+)/.exec(await this.slurm(`scontrol show job ${id}`))?.[1] ?? 'unknown';
  }

  /** Waits for the job to leave every state in which it may still run. */
  async jobEnd(id: string): Promise<string> {
    return waitUntil(
      `job ${id} to end`,
      async () => {
        const state = await this.jobState(id);
        return /PENDING|RUNNING|COMPLETING|CONFIGURING/.test(state) ? undefined : state;
      },
      { timeoutMs, intervalMs: 500 },
    );
  }

  async jobRuns(id: string): Promise<void> {
    await waitUntil(`job ${id} to run`, async () => (await this.jobState(id)) === 'RUNNING', {
      timeoutMs,
      intervalMs: 500,
    });
  }

  /** A command of Slurm's, as root beside slurmctld. */
  async slurm(command: string, allowFailure = false): Promise<string> {
    const { stdout, stderr, exitCode } = await this.controller.exec(command, { allowFailure });
    return exitCode === 0 ? stdout : stdout + stderr;
  }

  async #until(what: string, check: () => Promise<boolean>, container: GuestContainer): Promise<void> {
    await waitUntil(
      what,
      async () => {
        if (await check()) return true;
        if (!(await container.isRunning()))
          throw new Error(
            `${container.id} ended while waiting for ${what}:\n${await container.log()}\n${await container.reasonOfEnd()}`,
          );
        return false;
      },
      { timeoutMs, intervalMs: 500 },
    ).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await container.log()}`, { cause: error });
    });
  }

  async #start(request: ContainerRequest): Promise<GuestContainer> {
    this.#runs += 1;
    return GuestContainer.start(this.vm, request, this.#runs);
  }

  /** The image's own accounts, and Alice. */
  #accounts({ rootfs }: BuiltImage): NonNullable<ContainerRequest['files']> {
    const file = (name: string) => readFileSync(join(rootfs, 'etc', name), 'utf8');
    return [
      { path: '/etc/passwd', content: `${file('passwd')}alice:x:5001:5001::/home/alice:/bin/bash` },
      { path: '/etc/group', content: `${file('group')}alice:x:5001:` },
      { path: '/etc/shadow', content: `${file('shadow')}alice:*:19000:0:99999:7:::`, mode: '0640' },
    ];
  }

  #controllerObject() {
    return aController({ extraConf: this.#options.extraConf ?? '' });
  }

  async #writeVolumes(): Promise<void> {
    const controller = this.#controllerObject();
    const set = aNodeSet(nodeSetSpec);
    const { text } = buildSlurmConf({
      controller,
      accounting: undefined,
      nodeSets: [set],
      scripts: { prolog: [], epilog: [], prologSlurmctld: [], epilogSlurmctld: [] },
      image: this.#images.slurmctld.tag,
    });
    const config = buildControllerConfig({
      controller,
      slurmConf: text,
      accounting: false,
      userCgroupConf: false,
    });
    const files = {
      ...config.data,
      ...(this.#options.cgroupConf === undefined ? {} : { 'cgroup.conf': this.#options.cgroupConf }),
    };
    const write = (path: string, content: string) => `cat > ${path} <<'END_OF_FILE'\n${content}\nEND_OF_FILE`;
    await this.vm.run(`set -e
      # Slurm listens only where the machine has more than its loopback address.
      ip link add eth0 type dummy && ip address add ${address}/24 dev eth0 && ip link set eth0 up
      mkdir -p /volumes/controller /volumes/worker /volumes/state
      ${Object.entries(files)
        .map(([name, content]) => write(`/volumes/controller/${name}`, content))
        .join('\n')}
      install -m 0600 /volumes/slurm.key /volumes/controller/slurm.key
      install -m 0600 /volumes/slurm.key /volumes/controller/jwt.key
      install -m 0600 /volumes/slurm.key /volumes/worker/slurm.key
      chown -R 401:401 /volumes/controller /volumes/state
      ${write('/volumes/hosts', `127.0.0.1 localhost\n${address} slurm-controller-0 slurm-controller-0.hpc ${workerName} vm`)}
      ${write('/volumes/sshd_config', workerSshConfig(set)?.data.sshd_config ?? '')}
      ${write('/volumes/sssd.conf', sssdConf)}
      chmod 0600 /volumes/sssd.conf
ssh-keygen -q -t ed25519 -N '' -f /volumes/ssh </dev/null`);
  }
}

const nodeSetSpec = {
  replicas: 1,
  // One network for the machine and its pods: what is tested is control groups.
  template: { spec: { hostNetwork: true } },
  partition: { enabled: true, config: 'Default=YES' },
  ssh: {
    enabled: true,
    sssdConfRef: { name: 'sssd', key: 'sssd.conf' },
    extraSshdConfig: 'AuthenticationMethods publickey',
  },
};

/** Accounts of the image's own files: the directory service is not what is tested. */
const sssdConf = `[sssd]
services = nss, pam
domains = local
[domain/local]
id_provider = proxy
proxy_lib_name = files
auth_provider = none`;

function podOf(name: string, spec: object): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'hpc', uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '' },
    spec: { containers: [], hostNetwork: true, hostname: name, ...spec },
    status: { podIP: address, hostIP: address },
  } as unknown as Pod; // as much of a pod as the programs in the guest read
}
