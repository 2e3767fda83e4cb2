/** From a container of a pod to a running process: image, environment, user, files, mounts, then runc. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bytes } from '@slurm-operator/kubernetes-values';
import { explain } from '../../errors.ts';
import type { Machine } from '../../machine/machine.ts';
import type { Toolbox } from '../../machine/toolbox.ts';
import type { Container, DataObject, Pod } from '../../objects/objects.ts';
import { buildEnvironment } from '../bundle/environment.ts';
import { buildOciSpec, type Mount } from '../bundle/oci-spec.ts';
import { serviceVariables } from '../bundle/service-variables.ts';
import { resolveUser } from '../bundle/user.ts';
import type { NodeApi } from '../client-node-api.ts';
import { AgentError } from '../errors.ts';
import { type Image, type ImageStore, normalizeImageName } from '../images/image-store.ts';
import type { Cgroups } from '../runtime/cgroups.ts';
import { RunningContainer } from '../runtime/container.ts';
import { LogWriter } from '../runtime/log-file.ts';
import type { PodSandbox } from '../runtime/sandbox.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';
import { type DnsConfig, hostnameOf, hostsFile, resolvConf } from './pod-files.ts';

export interface NodeContext {
  readonly nodeName: string;
  readonly nodeAddress: string;
  readonly directory: string;
  readonly machine: Machine;
  readonly tools: Toolbox;
  readonly cgroups: Cgroups;
  /** The control group all containers of this node live under. */
  readonly cgroupRoot: string;
  readonly images: ImageStore;
  readonly api: NodeApi;
  readonly dns: DnsConfig;
  readonly capabilities: readonly string[];
  readonly allocatable: Readonly<Record<string, string>>;
  readonly now: () => number;
}

export interface StartedContainer {
  readonly running: RunningContainer;
  readonly image: Image;
  readonly log: LogWriter;
  readonly terminationLog: string;
  /** Takes its mounts and scratch files away, after it has ended. */
  dispose(): Promise<void>;
}

export interface StartRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly sandbox: PodSandbox;
  readonly volumes: PodVolumes;
  readonly id: string;
  readonly attempt: number;
  readonly podDirectory: string;
}

export const logPath = (directory: string, pod: Pod, container: string, attempt: number): string =>
  join(
    directory,
    'logs',
    `${pod.metadata.namespace ?? ''}_${pod.metadata.name}_${pod.metadata.uid}`,
    container,
    `${attempt}.log`,
  );

/** The image a container wants, or the reason it cannot be had: only a registry on this machine is asked. */
export async function findImage(container: Container, images: ImageStore): Promise<Image> {
  const name = container.image ?? '';
  if (normalizeImageName(name) === undefined)
    throw new AgentError(
      'InvalidImageName',
      `Failed to apply default image tag "${name}": couldn't parse image name "${name}": invalid reference format`,
    );
  const image = images.find(name);
  if (image !== undefined && container.imagePullPolicy !== 'Always') return image;
  if (image === undefined && container.imagePullPolicy === 'Never')
    throw new AgentError(
      'ErrImageNeverPull',
      `Container image "${name}" is not present with pull policy of Never`,
    );
  const pulled = await images.pull(name).catch((cause: unknown) => {
    throw new AgentError('ErrImagePull', `failed to pull image "${name}": ${explain(cause)}`, { cause });
  });
  if (pulled !== undefined) return pulled;
  if (image !== undefined) return image;
  throw new AgentError(
    'ErrImagePull',
    `failed to pull image "${name}": not found: this cluster pulls only from registries on this machine (localhost, 127.0.0.1); load the image with \`localcluster load-image FILE.tar\``,
  );
}

export async function startContainer(request: StartRequest, node: NodeContext): Promise<StartedContainer> {
  const { pod, container, sandbox, id } = request;
  const image = await findImage(container, node.images);
  const scratch = join(node.directory, 'containers', id);
  const rootfs = join(scratch, 'rootfs');
  const services = serviceVariables(
    node.api.services(),
    pod.metadata.namespace ?? '',
    pod.spec.enableServiceLinks !== false,
  );
  const podNow = withAddresses(pod, sandbox.address, node.nodeAddress);
  const environment = buildEnvironment({
    pod: podNow,
    container,
    imageEnv: image.config.env ?? {},
    services,
    nodeAllocatable: node.allocatable,
    ...(await gatherSources(pod, container, node.api)),
  });
  environment.set('HOSTNAME', hostnameOf(pod, node.nodeName));
  const user = resolveUser(pod, container, image.config.user ?? '', {
    passwd: await readFile(join(image.rootfs, 'etc/passwd'), 'utf8').catch(() => ''),
    group: await readFile(join(image.rootfs, 'etc/group'), 'utf8').catch(() => ''),
  });
  for (const part of ['rootfs', 'upper', 'work']) await mkdir(join(scratch, part), { recursive: true });
  const terminationLog = join(scratch, 'termination-log');
  const files = await writePodFiles(podNow, sandbox.address, request.podDirectory, node);
  await writeFile(terminationLog, '', { mode: 0o666 });
  const mounts = [
    ...files,
    bind(container.terminationMessagePath ?? '/dev/termination-log', terminationLog, 'rw'),
    ...(await request.volumes.mountsOf(pod, container, environment)),
  ];
  const cgroupsPath = `${node.cgroupRoot}/pod${pod.metadata.uid}/${id}`;
  const spec = buildOciSpec({
    pod,
    container,
    image: image.config,
    rootfs,
    environment,
    user,
    mounts: dropShadowed(mounts),
    sandboxPid: sandbox.pid,
    cgroupsPath,
    cgroupVersion: node.cgroups.version,
    capabilities: node.capabilities,
  });
  const dispose = async () => {
    await node.machine.run(['umount', '-l', rootfs], { allowFailure: true }).catch(() => {});
    await rm(scratch, { recursive: true, force: true });
  };
  const overlay = `lowerdir=${image.rootfs},upperdir=${join(scratch, 'upper')},workdir=${join(scratch, 'work')}`;
  await node.machine
    .run(['mount', '-t', 'overlay', 'overlay', '-o', overlay, rootfs])
    .catch((cause: unknown) => {
      throw new AgentError(
        'CreateContainerError',
        `cannot put an overlay on the image: ${(cause as Error).message}`,
        { cause },
      );
    });
  const log = await LogWriter.open(logPath(node.directory, pod, container.name, request.attempt), node.now);
  try {
    const running = await RunningContainer.start(
      {
        id,
        bundle: scratch,
        spec,
        cgroupsPath,
        log,
        stdin: container.stdin === true,
        tty: container.tty === true,
        hasMemoryLimit: bytes(container.resources?.limits?.['memory']) > 0,
      },
      node.machine,
      node.tools,
      join(node.directory, 'runc'),
      node.cgroups,
    );
    return { running, image, log, terminationLog, dispose };
  } catch (error) {
    await log.end();
    await dispose();
    throw error;
  }
}

/** The pod as its containers see it: addresses are known before the API server has heard of them. */
function withAddresses(pod: Pod, podIP: string, hostIP: string): Pod {
  return { ...pod, status: { ...pod.status, podIP, podIPs: [{ ip: podIP }], hostIP } };
}

const bind = (destination: string, source: string, mode: 'ro' | 'rw'): Mount => ({
  destination,
  source,
  type: 'bind',
  options: ['rbind', 'rprivate', mode],
});

/** Where a volume is mounted on a file of ours, the volume wins. */
function dropShadowed(mounts: readonly Mount[]): Mount[] {
  const last = new Map(mounts.map((mount) => [mount.destination, mount]));
  return [...last.values()].toSorted(
    (a, b) => a.destination.split('/').length - b.destination.split('/').length,
  );
}

async function writePodFiles(
  pod: Pod,
  address: string,
  directory: string,
  node: NodeContext,
): Promise<Mount[]> {
  await mkdir(directory, { recursive: true });
  const put = async (name: string, text: string, destination: string) => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o644 });
    return bind(destination, path, 'rw');
  };
  return [
    await put('hosts', hostsFile(pod, address, node.nodeName, node.dns.clusterDomain), '/etc/hosts'),
    await put('resolv.conf', resolvConf(pod, node.dns), '/etc/resolv.conf'),
    await put('hostname', `${hostnameOf(pod, node.nodeName)}\n`, '/etc/hostname'),
  ];
}

async function gatherSources(pod: Pod, container: Container, api: NodeApi) {
  const namespace = pod.metadata.namespace ?? '';
  const maps = new Map<string, DataObject | undefined>();
  const secrets = new Map<string, DataObject | undefined>();
  const refs = [
    ...(container.envFrom ?? []).map((source) => ({
      map: source.configMapRef?.name,
      secret: source.secretRef?.name,
    })),
    ...(container.env ?? []).map(({ valueFrom }) => ({
      map: valueFrom?.configMapKeyRef?.name,
      secret: valueFrom?.secretKeyRef?.name,
    })),
  ];
  for (const { map, secret } of refs) {
    if (map !== undefined && !maps.has(map)) maps.set(map, await api.configMap(namespace, map, 0));
    if (secret !== undefined && !secrets.has(secret))
      secrets.set(secret, await api.secret(namespace, secret, 0));
  }
  return { configMap: (name: string) => maps.get(name), secret: (name: string) => secrets.get(name) };
}
