/**
 * Earlier versions copied labels and annotations of a custom resource into its pod template. To take them away restarts the daemon, so
 * they stay with the values they have until the template changes for another reason. Pure.
 */
import { covers, type DeepReadonly, type KubeObject, withoutUnset } from '@slurm-operator/kube';

/** On a StatefulSet or Deployment, as JSON: the keys of the template's metadata that only an earlier version put there. */
export const keptMetadataAnnotation = 'slinky.slurm.net/kept-template-metadata';

type Pairs = Readonly<Record<string, string>>;

interface Metadata {
  readonly labels?: Pairs;
  readonly annotations?: Pairs;
}

interface Workload extends KubeObject {
  readonly spec?: { readonly template: { readonly metadata?: Metadata; readonly spec?: unknown } };
}

interface Kept {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
}

const none: Kept = { labels: [], annotations: [] };

/** `wanted`, with the keys that stay. The annotation is always written: an object without it was built by an earlier version. */
export function keepTemplateMetadata<T extends Workload>(
  live: DeepReadonly<Workload> | undefined,
  wanted: T,
): T {
  const { spec } = wanted;
  if (spec === undefined) return wanted;
  const kept = live === undefined ? none : keptOf(live as Workload, wanted);
  const theirs = (live as Workload | undefined)?.spec?.template.metadata;
  const { template } = spec;
  return {
    ...wanted,
    metadata: {
      ...wanted.metadata,
      annotations: { ...wanted.metadata.annotations, [keptMetadataAnnotation]: JSON.stringify(kept) },
    },
    spec: {
      ...spec,
      template: {
        ...template,
        metadata: {
          ...template.metadata,
          labels: { ...pick(theirs?.labels, kept.labels), ...template.metadata?.labels },
          annotations: {
            ...pick(theirs?.annotations, kept.annotations),
            ...template.metadata?.annotations,
          },
        },
      },
    },
  };
}

function keptOf(live: Workload, wanted: Workload): Kept {
  const theirs = live.spec?.template;
  const ours = wanted.spec?.template;
  // Its pods are replaced anyway.
  if (!covers(theirs, withoutUnset(ours))) return none;
  const listed = noted(live.metadata.annotations?.[keptMetadataAnnotation]);
  const extra = (field: keyof Kept): string[] =>
    Object.keys(theirs?.metadata?.[field] ?? {})
      .filter((key) => ours?.metadata?.[field]?.[key] === undefined)
      .filter((key) => (listed === undefined ? !isOfKubectl(key) : listed.has(`${field}/${key}`)))
      .toSorted();
  return { labels: extra('labels'), annotations: extra('annotations') };
}

/** Undefined where no version that writes it has been here. */
function noted(text: string | undefined): ReadonlySet<string> | undefined {
  if (text === undefined) return undefined;
  try {
    const { labels, annotations } = JSON.parse(text) as Kept;
    return new Set([
      ...labels.map((key) => `labels/${key}`),
      ...annotations.map((key) => `annotations/${key}`),
    ]);
  } catch {
    return new Set();
  }
}

/** `kubectl rollout restart` writes its annotation to the template itself; earlier versions never copied those. */
const isOfKubectl = (key: string): boolean => key.startsWith('kubectl.kubernetes.io/');

const pick = (pairs: Pairs | undefined, keys: readonly string[]): Pairs =>
  Object.fromEntries(keys.map((key) => [key, pairs?.[key] ?? '']));
