/** Containers inside a virtual machine, with the settings that a kubelet on cgroup v2 gives a pod: runc with localcluster's OCI specification. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuiltImage } from '@slurm-operator/images';
import {
  buildEnvironment,
  buildOciSpec,
  type Container,
  capabilitiesOf,
  type Pod,
  resolveUser,
} from '@slurm-operator/localcluster/testing';
import type { CommandResult, Vm } from '@slurm-operator/sandbox';

export interface ContainerRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly image: BuiltImage;
  /** Where the image's files are in the guest. */
  readonly rootfs: string;
  /** Directories and files of the guest by their place in the container. */
  readonly mounts: Readonly<Record<string, string>>;
  /** Written into the container's own layer before it starts. */
  readonly files?: readonly {
    readonly path: string;
    readonly content: string;
    readonly mode?: string;
    readonly owner?: string;
  }[];
}

export class GuestContainer {
  readonly id: string;
  readonly cgroup: string;
  readonly #vm: Vm;
  readonly #bundle: string;

  private constructor(vm: Vm, id: string, cgroup: string, bundle: string) {
    this.#vm = vm;
    this.id = id;
    this.cgroup = cgroup;
    this.#bundle = bundle;
  }

  static async start(vm: Vm, request: ContainerRequest, run: number): Promise<GuestContainer> {
    const { pod, container, image } = request;
    const id = `${container.name}-${run}`;
    const bundle = `/run/bundles/${id}`;
    const cgroup = `/kubepods/burstable/pod${pod.metadata.uid}/${id}`;
    const sandboxPid = await ensurePodSandbox(vm, pod);
    const accounts = (file: string) => readFileSync(join(image.rootfs, 'etc', file), 'utf8');
    const { config } = image.description;
    const spec = buildOciSpec({
      pod,
      container,
      image: config,
      rootfs: `${bundle}/rootfs`,
      environment: buildEnvironment({
        pod,
        container,
        imageEnv: config.env ?? {},
        configMap: () => undefined,
        secret: () => undefined,
        services: new Map(),
        nodeAllocatable: {},
      }),
      user: resolveUser(pod, container, config.user ?? '', {
        passwd: accounts('passwd'),
        group: accounts('group'),
      }),
      mounts: Object.entries(request.mounts).map(([destination, source]) => ({
        destination,
        source,
        type: 'bind',
        options: ['rbind', 'rprivate', destination === '/etc/slurm' ? 'ro' : 'rw'],
      })),
      sandboxPid,
      cgroupsPath: cgroup,
      cgroupVersion: 2,
      capabilities: capabilitiesOf(
        (await vm.run(`awk '/CapBnd/ {print $2}' /proc/self/status`)).stdout.trim(),
      ),
    });
    const files = (request.files ?? []).map(({ path, content, mode = '0644', owner = '0:0' }) => {
      const target = `${bundle}/rootfs${path}`;
      return `install -D -m ${mode} /dev/stdin ${target} <<'END_OF_FILE'\n${content}\nEND_OF_FILE\nchown ${owner} ${target} $(dirname ${target})`;
    });
    await vm.run(`set -e
      mkdir -p ${bundle}/{upper,work,rootfs}
      mount -t overlay overlay -o lowerdir=${request.rootfs},upperdir=${bundle}/upper,workdir=${bundle}/work ${bundle}/rootfs
      ${files.join('\n')}
      cat > ${bundle}/config.json <<'END_OF_FILE'\n${JSON.stringify(spec)}\nEND_OF_FILE
      runc run --detach --pid-file ${bundle}/pid --bundle ${bundle} ${id} >${bundle}/log 2>&1 </dev/null || { cat ${bundle}/log >&2; exit 1; }`);
    return new GuestContainer(vm, id, cgroup, bundle);
  }

  /** Runs a bash script in the container, as root unless another user is named. */
  async exec(
    script: string,
    options: { readonly user?: string; readonly timeoutMs?: number; readonly allowFailure?: boolean } = {},
  ): Promise<CommandResult> {
    const { user = '0:0', ...rest } = options;
    return this.#vm.run(
      `runc exec --user ${user} ${this.id} bash -s <<'END_OF_SCRIPT'\n${script}\nEND_OF_SCRIPT`,
      rest,
    );
  }

  async log(): Promise<string> {
    return (await this.#vm.run(`tail -n 40 ${this.#bundle}/log`)).stdout;
  }

  async isRunning(): Promise<boolean> {
    const { stdout } = await this.#vm.run(`runc state ${this.id}`, { allowFailure: true });
    return /"status": "running"/.test(stdout);
  }

  /** What the runtime and the kernel say about a container that ended without output: killed for its memory, for example. */
  async reasonOfEnd(): Promise<string> {
    const script = `runc state ${this.id} 2>&1; dmesg | tail -n 15`;
    const { stdout } = await this.#vm.run(script, { allowFailure: true });
    return stdout;
  }

  /** What a kubelet does with a container that it restarts: everything in it ends, and the runtime forgets it. */
  async remove(): Promise<void> {
    await this.#vm.run(`runc delete --force ${this.id} || true; umount -l ${this.#bundle}/rootfs || true`);
  }
}

/** The process that keeps the pod's host name and IPC namespace, as a kubelet's pause container does. */
async function ensurePodSandbox(vm: Vm, pod: Pod): Promise<number> {
  const file = `/run/sandbox-${pod.metadata.uid}`;
  const name = pod.spec.hostname ?? pod.metadata.name;
  const { stdout } = await vm.run(
    `[[ -e ${file} ]] || { unshare --uts --ipc setsid bash -c 'hostname ${name}; echo $$ > ${file}.new; mv ${file}.new ${file}; exec sleep infinity' </dev/null >/dev/null 2>&1 & }
     for attempt in {1..2000}; do [[ -e ${file} ]] && break; sleep 0.1; done; cat ${file}`,
  );
  return Number(stdout.trim());
}
