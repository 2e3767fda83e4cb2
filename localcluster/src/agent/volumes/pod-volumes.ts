/** The volumes of one pod on one node: made before its first container, refreshed while it runs, gone after it. */
import { chmod, mkdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { bytes } from '@slurm-operator/kubernetes-values';
import type { Machine } from '../../machine/machine.ts';
import {
  type Container,
  type DataObject,
  ignoresFsGroup,
  type Pod,
  type Volume,
} from '../../objects/objects.ts';
import { expand } from '../bundle/environment.ts';
import type { Mount } from '../bundle/oci-spec.ts';
import type { NodeApi } from '../client-node-api.ts';
import { AgentError } from '../errors.ts';
import { writeAtomically } from './atomic-directory.ts';
import { type PayloadSources, payloadOf, type TokenRequest } from './payload.ts';

export interface VolumeOptions {
  readonly api: NodeApi;
  readonly machine: Machine;
  /** Where hostPath volumes of ordinary paths live: a node's own disk, not the real machine's. */
  readonly hostRoot: string;
  readonly nodeAllocatable: Readonly<Record<string, string>>;
  readonly now: () => number;
}

/** Paths that only the real machine can give. */
const realPaths = /^\/(sys|dev|proc|lib\/modules)(\/|$)/;

/** A ConfigMap or Secret read less than this ago is good enough for the slow refresh. */
export const slowRefreshMs = 60_000;

export class PodVolumes {
  readonly #directory: string;
  readonly #options: VolumeOptions;
  readonly #sources = new Map<string, string>();
  readonly #mounted: string[] = [];
  readonly #tokens = new Map<string, { token: string; expiresAt: number; lifetime: number }>();
  #stamp = 0;

  constructor(directory: string, options: VolumeOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  /** Makes all volumes; throws the first reason why one cannot be made. Safe to call again. */
  async mount(pod: Pod): Promise<void> {
    for (const volume of pod.spec.volumes ?? []) {
      if (this.#sources.has(volume.name)) continue;
      this.#sources.set(volume.name, await this.#make(pod, volume));
    }
  }

  /** Writes changed ConfigMaps, Secrets, fields and tokens into running containers. */
  async refresh(pod: Pod, maxAgeMs: number): Promise<void> {
    for (const volume of pod.spec.volumes ?? [])
      if (this.#sources.has(volume.name)) await this.#project(pod, volume, maxAgeMs);
  }

  async unmount(): Promise<void> {
    for (const path of this.#mounted.splice(0))
      await this.#options.machine.run(['umount', '-l', path], { allowFailure: true }).catch(() => {});
    this.#sources.clear();
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** The volume mounts of a container as the runtime wants them. */
  async mountsOf(pod: Pod, container: Container, environment: ReadonlyMap<string, string>): Promise<Mount[]> {
    const mounts: Mount[] = [];
    for (const entry of container.volumeMounts ?? []) {
      const source = this.#sources.get(entry.name);
      if (source === undefined)
        throw new AgentError('CreateContainerConfigError', `volume "${entry.name}" is not mounted`);
      const subPath =
        entry.subPathExpr === undefined ? entry.subPath : expand(entry.subPathExpr, environment);
      const propagation =
        entry.mountPropagation === 'Bidirectional'
          ? 'rshared'
          : entry.mountPropagation === 'HostToContainer'
            ? 'rslave'
            : 'rprivate';
      const projected = isProjected(pod, entry.name);
      mounts.push({
        destination: entry.mountPath.startsWith('/') ? entry.mountPath : `/${entry.mountPath}`,
        source:
          subPath === undefined || subPath === '' ? source : await this.#subPath(source, subPath, projected),
        type: 'bind',
        options: ['rbind', propagation, entry.readOnly === true || projected ? 'ro' : 'rw'],
      });
    }
    return mounts;
  }

  async #subPath(source: string, subPath: string, mustExist: boolean): Promise<string> {
    const path = normalize(join(source, subPath));
    if (!path.startsWith(source))
      throw new AgentError('CreateContainerConfigError', `subPath "${subPath}" must not leave its volume`);
    const found = await realpath(path).catch(() => undefined);
    if (found !== undefined) return found;
    if (mustExist)
      throw new AgentError(
        'CreateContainerConfigError',
        `failed to prepare subPath for volumeMount: no such file "${subPath}"`,
      );
    await mkdir(path, { recursive: true, mode: 0o755 });
    return path;
  }

  async #make(pod: Pod, volume: Volume): Promise<string> {
    const path = join(this.#directory, volume.name);
    const group = pod.spec.securityContext?.fsGroup;
    if (await this.#project(pod, volume, 0)) return path;
    if (volume.emptyDir !== undefined) {
      await mkdir(path, { recursive: true });
      await chmod(path, 0o777);
      if (volume.emptyDir.medium === 'Memory') await this.#mountMemory(path, volume);
      if (group !== undefined) await this.#giveToGroup(path, group);
      return path;
    }
    if (volume.hostPath !== undefined)
      return this.#hostPath(volume.hostPath.path, volume.hostPath.type ?? '');
    if (volume.persistentVolumeClaim !== undefined) {
      const found = await this.#claimed(pod, volume.persistentVolumeClaim.claimName);
      if (group !== undefined && !found.ignoresFsGroup) await this.#giveToGroup(found.path, group);
      return found.path;
    }
    throw new AgentError(
      'FailedMount',
      `volume "${volume.name}" is of a kind that this cluster does not provide`,
    );
  }

  async #mountMemory(path: string, volume: Volume): Promise<void> {
    const limit = bytes(volume.emptyDir?.sizeLimit);
    const options = `mode=0777${limit > 0 ? `,size=${limit}` : ''}`;
    await this.#options.machine.run(['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', path]);
    this.#mounted.push(path);
  }

  async #giveToGroup(path: string, group: number): Promise<void> {
    const script = 'chgrp -R "$0" "$1" && chmod -R g+rwX "$1" && chmod g+s "$1"';
    await this.#options.machine.run(['sh', '-c', script, String(group), path]);
  }

  async #hostPath(wanted: string, type: string): Promise<string> {
    const path = realPaths.test(wanted) ? wanted : join(this.#options.hostRoot, wanted);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) {
      if (type === 'DirectoryOrCreate' || type === '') await mkdir(path, { recursive: true });
      else if (type === 'FileOrCreate') {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, '', { flag: 'a' });
      } else
        throw new AgentError(
          'FailedMount',
          `hostPath type check failed: ${wanted} is not a ${describeType(type)}`,
        );
    } else if ((type === 'Directory' && !found.isDirectory()) || (type === 'File' && !found.isFile()))
      throw new AgentError(
        'FailedMount',
        `hostPath type check failed: ${wanted} is not a ${describeType(type)}`,
      );
    return path;
  }

  async #claimed(pod: Pod, claimName: string): Promise<{ path: string; ignoresFsGroup: boolean }> {
    const claim = await this.#options.api.claim(pod.metadata.namespace ?? '', claimName);
    if (claim === undefined)
      throw new AgentError('FailedMount', `persistentvolumeclaim "${claimName}" not found`);
    const volumeName = claim.spec.volumeName;
    if (volumeName === undefined || volumeName === '' || claim.status?.phase !== 'Bound')
      throw new AgentError('FailedMount', `PVC ${claimName} is not bound`);
    const volume = await this.#options.api.volume(volumeName);
    const path = volume?.spec.hostPath?.path ?? volume?.spec.local?.path;
    if (path === undefined)
      throw new AgentError(
        'FailedMount',
        `volume ${volumeName} of PVC ${claimName} is of a kind that this cluster does not provide`,
      );
    await mkdir(path, { recursive: true });
    return { path, ignoresFsGroup: volume?.metadata.annotations?.[ignoresFsGroup] === 'true' };
  }

  /** False when the volume's files do not come from the API. */
  async #project(pod: Pod, volume: Volume, maxAgeMs: number): Promise<boolean> {
    const sources = await this.#gather(pod, volume, maxAgeMs);
    const payload = payloadOf(pod, volume, sources);
    if (payload === undefined) return false;
    const path = join(this.#directory, volume.name);
    const stamp = `${new Date(this.#options.now()).toISOString().replaceAll(/[-:.TZ]/g, '_')}.${this.#stamp++}`;
    await writeAtomically(path, payload, stamp, { gid: pod.spec.securityContext?.fsGroup });
    return true;
  }

  /** Fetches what the volume needs, so that building its files is a pure step. */
  async #gather(pod: Pod, volume: Volume, maxAgeMs: number): Promise<PayloadSources> {
    const { api } = this.#options;
    const namespace = pod.metadata.namespace ?? '';
    const maps = new Map<string, DataObject | undefined>();
    const secrets = new Map<string, DataObject | undefined>();
    const tokens = new Map<string, string>();
    const wantMap = async (name: string | undefined) => {
      if (name !== undefined) maps.set(name, await api.configMap(namespace, name, maxAgeMs));
    };
    const wantSecret = async (name: string | undefined) => {
      if (name !== undefined) secrets.set(name, await api.secret(namespace, name, maxAgeMs));
    };
    await wantMap(volume.configMap?.name);
    await wantSecret(volume.secret?.secretName);
    for (const source of volume.projected?.sources ?? []) {
      await wantMap(source.configMap?.name);
      await wantSecret(source.secret?.name);
      if (source.serviceAccountToken !== undefined) {
        const { audience = '', expirationSeconds = 3600 } = source.serviceAccountToken;
        tokens.set(audience, await this.#token(pod, { audience, expirationSeconds }));
      }
    }
    return {
      configMap: (name) => maps.get(name),
      secret: (name) => secrets.get(name),
      token: ({ audience }) => tokens.get(audience) ?? '',
      nodeAllocatable: this.#options.nodeAllocatable,
    };
  }

  /** A token is kept until a fifth of its life is left. */
  async #token(pod: Pod, request: TokenRequest): Promise<string> {
    const now = this.#options.now();
    const known = this.#tokens.get(request.audience);
    if (known !== undefined && known.expiresAt - now > known.lifetime / 5) return known.token;
    const fresh = await this.#options.api.token(pod, request);
    this.#tokens.set(request.audience, { ...fresh, lifetime: fresh.expiresAt - now });
    return fresh.token;
  }
}

function isProjected(pod: Pod, name: string): boolean {
  const volume = (pod.spec.volumes ?? []).find((entry) => entry.name === name);
  return (
    volume?.configMap !== undefined ||
    volume?.secret !== undefined ||
    volume?.projected !== undefined ||
    volume?.downwardAPI !== undefined
  );
}

const describeType = (type: string) =>
  ({
    Directory: 'directory',
    File: 'file',
    Socket: 'socket file',
    CharDevice: 'character device',
    BlockDevice: 'block device',
  })[type] ?? type;
