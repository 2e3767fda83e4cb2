/** The conditions of a namespace that is being emptied, in the words people search for. Pure. */
import { type AnyResource, groupOf } from '@slurm-operator/kube';

export interface Remaining {
  readonly resource: AnyResource;
  readonly count: number;
  readonly finalizers: readonly string[];
}

interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime?: string;
}

export function remainingConditions(
  before: readonly unknown[],
  remaining: readonly Remaining[],
  now: number,
): Condition[] {
  const holders = new Map<string, number>();
  for (const { finalizers } of remaining)
    for (const finalizer of finalizers) holders.set(finalizer, (holders.get(finalizer) ?? 0) + 1);
  const content = remaining.map(
    // Kubernetes writes the dot also where no group follows.
    ({ resource, count }) => `${resource.plural}.${groupOf(resource)} has ${count} resource instances`,
  );
  const held = [...holders].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
  const wanted: Omit<Condition, 'lastTransitionTime'>[] = [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      status: 'False',
      reason: 'ResourcesDiscovered',
      message: 'All resources successfully discovered',
    },
    {
      type: 'NamespaceDeletionGroupVersionParsingFailure',
      status: 'False',
      reason: 'ParsedGroupVersions',
      message: 'All legacy kube types successfully parsed',
    },
    {
      type: 'NamespaceDeletionContentFailure',
      status: 'False',
      reason: 'ContentDeleted',
      message: 'All content successfully deleted, may be waiting on finalization',
    },
    content.length === 0
      ? {
          type: 'NamespaceContentRemaining',
          status: 'False',
          reason: 'ContentRemoved',
          message: 'All content successfully removed',
        }
      : {
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: `Some resources are remaining: ${content.join(', ')}`,
        },
    held.length === 0
      ? {
          type: 'NamespaceFinalizersRemaining',
          status: 'False',
          reason: 'ContentHasNoFinalizers',
          message: 'All content-preserving finalizers finished',
        }
      : {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          reason: 'SomeFinalizersRemain',
          message: `Some content in the namespace has finalizers remaining: ${held.join(', ')}`,
        },
  ];
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  return wanted.map((entry) => {
    const known = (before as readonly Condition[]).find((other) => other.type === entry.type);
    return {
      ...entry,
      lastTransitionTime: known?.status === entry.status ? (known.lastTransitionTime ?? at) : at,
    };
  });
}
