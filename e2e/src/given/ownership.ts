/** Which objects of a given cluster a run of the tests created. Others may use the cluster at the same time. Pure. */
import type { Content } from './cluster-contents.ts';

/** The namespaces of the tests. They must not exist before, and are gone after. */
const testNamespaces = [
  'slurm',
  'slinky',
  'hybrid',
  'team',
  'slurm-example',
  'slurm-demo',
  'slurm-demo-operator',
] as const;

/** On every namespace that a run creates itself; the value names the run. */
export const runLabel = 'test.slinky.slurm.net/run';

/** Namespaces that only this product creates: by its plain YAML and by the demo. */
const productNamespaces: ReadonlySet<string> = new Set(['slinky', 'slurm-demo', 'slurm-demo-operator']);

const releaseNamespace = 'meta.helm.sh/release-namespace';

/** Cluster-wide kinds that no chart or test creates, whatever the name of an object is. */
const neverOurs: ReadonlySet<string> = new Set([
  'Node',
  'StorageClass',
  'APIService',
  'CSINode',
  'CSIDriver',
]);

export interface Ownership {
  /** Whether the run created it. */
  isOurs(content: Content): boolean;
}

/** Decides for objects that did not exist before the run. `now` is everything that exists. */
export function ownership(runId: string, now: Iterable<Content>): Ownership {
  const ours = new Set<string>();
  const others = new Set<string>();
  for (const content of now)
    if (content.kind === 'Namespace') (isOurNamespace(content, runId) ? ours : others).add(content.name);
  return {
    isOurs: (content) => {
      if (content.namespace !== '') return ours.has(content.namespace);
      if (content.kind === 'Namespace') return ours.has(content.name);
      // A volume belongs to the namespace of its claim, which is gone before it.
      if (content.kind === 'PersistentVolume') {
        const { claimNamespace = '' } = content;
        return isTestNamespace(claimNamespace) && !others.has(claimNamespace);
      }
      return !neverOurs.has(content.kind) && isOurClusterObject(content);
    },
  };
}

export const isTestNamespace = (name: string): boolean =>
  (testNamespaces as readonly string[]).includes(name);

const isOurNamespace = ({ name, labels }: Content, runId: string): boolean =>
  isTestNamespace(name) && (productNamespaces.has(name) || labels?.[runLabel] === runId);

/** The charts name their release; the plain YAML has names of its own; kinds and policies carry the API group. */
const isOurClusterObject = ({ name, annotations }: Content): boolean =>
  isTestNamespace(annotations?.[releaseNamespace] ?? '') ||
  /^slurm-operator(-|$)/.test(name) ||
  name.endsWith('.slinky.slurm.net');

/** Labels and annotations of our API group that objects of others (nodes) got during the run, as sentences. */
export function marksLeft(before: ReadonlyMap<string, Content>, now: ReadonlyMap<string, Content>): string[] {
  return [...now].flatMap(([path, content]) => {
    const old = before.get(path);
    if (old === undefined) return [];
    const keys = (of: Content) => [...Object.keys(of.labels ?? {}), ...Object.keys(of.annotations ?? {})];
    const known = new Set(keys(old));
    return keys(content)
      .filter((key) => key.includes('slinky.slurm.net') && !known.has(key))
      .map((key) => `${key} on ${path}`);
  });
}
