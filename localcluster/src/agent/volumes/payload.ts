/** What files a ConfigMap, Secret, downward-API or projected volume holds, as data. */
import type { Container, DataObject, Pod, Volume } from '../../objects/objects.ts';
import { resourceValue } from '../bundle/environment.ts';
import { fieldValue } from '../bundle/field-value.ts';
import { AgentError } from '../errors.ts';

export interface FileContent {
  readonly bytes: Buffer;
  readonly mode: number;
}

export type Payload = ReadonlyMap<string, FileContent>;

export interface PayloadSources {
  readonly configMap: (name: string) => DataObject | undefined;
  readonly secret: (name: string) => DataObject | undefined;
  readonly token: (request: TokenRequest) => string;
  readonly nodeAllocatable: Readonly<Record<string, string>>;
}

export interface TokenRequest {
  readonly audience: string;
  readonly expirationSeconds: number;
}

interface Item {
  readonly key: string;
  readonly path: string;
  readonly mode?: number;
}

interface DownwardItem {
  readonly path: string;
  readonly mode?: number;
  readonly fieldRef?: { readonly fieldPath: string };
  readonly resourceFieldRef?: {
    readonly containerName?: string;
    readonly resource: string;
    readonly divisor?: string | number;
  };
}

/** Undefined when the volume is not one whose files come from the API. */
export function payloadOf(pod: Pod, volume: Volume, sources: PayloadSources): Payload | undefined {
  const files = new Map<string, FileContent>();
  if (volume.configMap !== undefined) {
    const { name = '', items, defaultMode, optional } = volume.configMap;
    addData(files, 'configmap', sources.configMap(name), name, items, defaultMode ?? 0o644, optional);
    return files;
  }
  if (volume.secret !== undefined) {
    const { secretName = '', items, defaultMode, optional } = volume.secret;
    addData(files, 'secret', sources.secret(secretName), secretName, items, defaultMode ?? 0o644, optional);
    return files;
  }
  if (volume.downwardAPI !== undefined) {
    const mode = volume.downwardAPI.defaultMode ?? 0o644;
    addDownward(files, pod, volume.downwardAPI.items ?? [], mode, sources);
    return files;
  }
  if (volume.projected === undefined) return undefined;
  const mode = volume.projected.defaultMode ?? 0o644;
  for (const source of volume.projected.sources ?? []) {
    if (source.configMap !== undefined) {
      const { name = '', items, optional } = source.configMap;
      addData(files, 'configmap', sources.configMap(name), name, items, mode, optional);
    }
    if (source.secret !== undefined) {
      const { name = '', items, optional } = source.secret;
      addData(files, 'secret', sources.secret(name), name, items, mode, optional);
    }
    if (source.downwardAPI !== undefined)
      addDownward(files, pod, source.downwardAPI.items ?? [], mode, sources);
    if (source.serviceAccountToken !== undefined) {
      const { path, audience = '', expirationSeconds = 3600 } = source.serviceAccountToken;
      const tight = pod.spec.securityContext?.fsGroup === undefined ? mode : 0o640;
      files.set(path, { bytes: Buffer.from(sources.token({ audience, expirationSeconds })), mode: tight });
    }
  }
  return files;
}

function addData(
  files: Map<string, FileContent>,
  kind: 'configmap' | 'secret',
  found: DataObject | undefined,
  name: string,
  items: readonly Item[] | undefined,
  mode: number,
  optional: boolean | undefined,
): void {
  if (found === undefined) {
    if (optional === true) return;
    throw new AgentError('FailedMount', `${kind} "${name}" not found`);
  }
  const encoding = kind === 'secret' ? 'base64' : 'utf8';
  const content = new Map<string, Buffer>();
  for (const [key, value] of Object.entries(found.data ?? {})) content.set(key, Buffer.from(value, encoding));
  for (const [key, value] of Object.entries(found.binaryData ?? {}))
    content.set(key, Buffer.from(value, 'base64'));
  if (items === undefined || items.length === 0) {
    for (const [key, bytes] of content) files.set(key, { bytes, mode });
    return;
  }
  for (const item of items) {
    const bytes = content.get(item.key);
    if (bytes === undefined) {
      if (optional === true) continue;
      throw new AgentError(
        'FailedMount',
        `references non-existent ${kind === 'secret' ? 'secret' : 'config'} key: ${item.key}`,
      );
    }
    files.set(item.path, { bytes, mode: item.mode ?? mode });
  }
}

function addDownward(
  files: Map<string, FileContent>,
  pod: Pod,
  items: readonly DownwardItem[],
  mode: number,
  sources: PayloadSources,
): void {
  for (const item of items) {
    const text =
      item.fieldRef !== undefined
        ? fieldValue(pod, item.fieldRef.fieldPath)
        : resourceText(pod, item.resourceFieldRef, sources.nodeAllocatable);
    files.set(item.path, { bytes: Buffer.from(text), mode: item.mode ?? mode });
  }
}

function resourceText(
  pod: Pod,
  ref: DownwardItem['resourceFieldRef'],
  nodeAllocatable: Readonly<Record<string, string>>,
): string {
  if (ref === undefined) return '';
  const container: Container | undefined = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(
    (entry) => entry.name === ref.containerName,
  );
  return container === undefined ? '' : resourceValue(container, ref, nodeAllocatable);
}
