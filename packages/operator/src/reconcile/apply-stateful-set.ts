/** Makes a StatefulSet what it should be, also where Kubernetes lets nobody change it. */
import { type Live, type Manager, type StatefulSet, statefulSets } from '@slurm-operator/kube';
import { keepTemplateMetadata } from './keep-template-metadata.ts';
import { leaveRollingUpdate } from './leave-rolling-update.ts';

type Needs = Pick<Manager, 'cache' | 'client' | 'owned'>;

/**
 * The name of its Service and the order of its pods are fixed at birth. One that another operator made with others is deleted
 * without its pods and claims: they go on, and the new StatefulSet of the same selector takes them over. Whoever called looks
 * again when the old one is gone.
 */
export async function applyStatefulSet(
  { cache, client, owned }: Needs,
  owner: Live,
  wanted: StatefulSet,
  signal: AbortSignal,
): Promise<void> {
  const live = cache.get(statefulSets, wanted.metadata);
  if (live === undefined || !isFixedOtherwise(live, wanted) || !isOwnedBy(live, owner)) {
    const named = keepTemplateMetadata(live, withClaimTemplates(live, withStrategy(wanted)));
    await leaveRollingUpdate(client, statefulSets, owner, live, named, signal);
    await owned.apply(statefulSets, owner, named, { signal });
    return;
  }
  if (live.metadata.deletionTimestamp === undefined)
    await client.delete(statefulSets, live.metadata, {
      uid: live.metadata.uid,
      propagation: 'Orphan',
      signal,
    });
}

/** Named also where it is the usual one: what is only left out would not end the one before. */
function withStrategy(wanted: StatefulSet): StatefulSet {
  const { spec } = wanted;
  if (spec === undefined || spec.updateStrategy !== undefined) return wanted;
  return { ...wanted, spec: { ...spec, updateStrategy: { type: 'RollingUpdate' } } };
}

/**
 * Claim templates never change: one that differs would make Kubernetes refuse the whole StatefulSet, with every other change in it. What
 * of the claims can change is changed on the claims themselves.
 */
function withClaimTemplates(live: Live<StatefulSet> | undefined, wanted: StatefulSet): StatefulSet {
  const { spec } = wanted;
  if (live?.spec === undefined || spec === undefined) return wanted;
  const { volumeClaimTemplates: _, ...rest } = spec;
  const templates = live.spec.volumeClaimTemplates?.map(({ status: _status, ...template }) => template);
  return {
    ...wanted,
    spec: { ...rest, ...(templates === undefined ? {} : { volumeClaimTemplates: templates }) } as typeof spec,
  };
}

const isFixedOtherwise = (live: Live<StatefulSet>, wanted: StatefulSet): boolean =>
  live.spec?.serviceName !== wanted.spec?.serviceName ||
  (live.spec?.podManagementPolicy ?? 'OrderedReady') !== (wanted.spec?.podManagementPolicy ?? 'OrderedReady');

/** Somebody else's is not ours to delete; the apply will say whose it is. */
const isOwnedBy = (live: Live<StatefulSet>, { metadata: { uid } }: Live): boolean =>
  live.metadata.ownerReferences?.some((reference) => reference.uid === uid) ?? false;
