/** The actions that make a StatefulSet or Deployment what it should be, also where Kubernetes does not allow the change in place. Pure. */
import {
  type AnyResource,
  type Deployment,
  deployments,
  type KubeObject,
  type Live,
  type StatefulSet,
  statefulSets,
} from '@slurm-operator/kube';
import type { Action } from './actions.ts';
import { keepTemplateMetadata } from './keep-template-metadata.ts';

interface Strategy {
  readonly type?: string;
  readonly rollingUpdate?: unknown;
}

interface Workload extends KubeObject {
  /** A Deployment calls it `strategy`, a StatefulSet `updateStrategy`. */
  readonly spec?: { readonly strategy?: Strategy; readonly updateStrategy?: Strategy };
}

export function planDeployment(
  owner: Live,
  live: Live<Deployment> | undefined,
  desired: Deployment,
): Action[] {
  const object = keepTemplateMetadata(live, keepKnownDigests(live, desired));
  return [
    ...removeRollingUpdate(deployments, owner, live, object),
    { type: 'Apply', resource: deployments, object },
  ];
}

/**
 * serviceName and podManagementPolicy are immutable. A StatefulSet of ours with other values is deleted without its pods and claims:
 * they keep running, and the StatefulSet that the next reconcile creates has the same selector and adopts them.
 */
export function planStatefulSet(
  owner: Live,
  live: Live<StatefulSet> | undefined,
  desired: StatefulSet,
): Action[] {
  if (live !== undefined && hasOtherImmutables(live, desired) && isOwnedBy(live, owner)) {
    if (live.metadata.deletionTimestamp !== undefined) return [];
    const { namespace, name, uid } = live.metadata;
    return [{ type: 'Delete', resource: statefulSets, ref: { namespace, name }, uid, propagation: 'Orphan' }];
  }
  const object = keepTemplateMetadata(
    live,
    keepKnownDigests(live, withLiveClaimTemplates(live, withStrategy(desired))),
  );
  return [
    ...removeRollingUpdate(statefulSets, owner, live, object),
    { type: 'Apply', resource: statefulSets, object },
  ];
}

const isDigest = /^slinky\.slurm\.net\/.*hash$/;

/**
 * A digest in the pod template that is empty belongs to a Secret or ConfigMap that is away, maybe for a moment only (a restore,
 * a tool that replaces it). It is no new content: a daemon that runs keeps the digest that it was started with.
 */
function keepKnownDigests<T extends StatefulSet | Deployment>(live: Live<T> | undefined, desired: T): T {
  const known = live?.spec?.template.metadata?.annotations;
  const { spec } = desired;
  const annotations = spec?.template.metadata?.annotations;
  if (known === undefined || spec === undefined || annotations === undefined) return desired;
  const kept = Object.entries(annotations).map(([key, value]) => [
    key,
    isDigest.test(key) && value === '' ? (known[key] ?? '') : value,
  ]);
  const metadata = { ...spec.template.metadata, annotations: Object.fromEntries(kept) };
  return { ...desired, spec: { ...spec, template: { ...spec.template, metadata } } };
}

/** Always named: a strategy that is merely left out would keep the previous one. */
function withStrategy(desired: StatefulSet): StatefulSet {
  const { spec } = desired;
  if (spec === undefined || spec.updateStrategy !== undefined) return desired;
  return { ...desired, spec: { ...spec, updateStrategy: { type: 'RollingUpdate' } } };
}

/** volumeClaimTemplates are immutable: a different one would make the API server refuse every other change, too. */
function withLiveClaimTemplates(live: Live<StatefulSet> | undefined, desired: StatefulSet): StatefulSet {
  const { spec } = desired;
  if (live?.spec === undefined || spec === undefined) return desired;
  const { volumeClaimTemplates: _, ...rest } = spec;
  const templates = live.spec.volumeClaimTemplates?.map(({ status: _status, ...template }) => template);
  return {
    ...desired,
    spec: { ...rest, ...(templates === undefined ? {} : { volumeClaimTemplates: templates }) } as typeof spec,
  };
}

const hasOtherImmutables = (live: Live<StatefulSet>, desired: StatefulSet): boolean =>
  live.spec?.serviceName !== desired.spec?.serviceName ||
  (live.spec?.podManagementPolicy ?? 'OrderedReady') !==
    (desired.spec?.podManagementPolicy ?? 'OrderedReady');

/**
 * The API server fills in `rollingUpdate` and refuses it beside another strategy; server-side apply does not remove a field that it
 * never set. So it is removed by a patch first, and only from a workload of ours.
 */
function removeRollingUpdate(
  resource: AnyResource,
  owner: Live,
  live: Live | undefined,
  desired: Workload,
): Action[] {
  if (live === undefined || !isOwnedBy(live, owner)) return [];
  const { namespace, name, uid } = live.metadata;
  return (['strategy', 'updateStrategy'] as const).flatMap((field): Action[] => {
    const type = desired.spec?.[field]?.type;
    if (type === undefined || type === 'RollingUpdate') return [];
    if ((live as Live<Workload>).spec?.[field]?.rollingUpdate === undefined) return [];
    const body = { metadata: { uid }, spec: { [field]: { type, rollingUpdate: null } } };
    return [{ type: 'Patch', resource, ref: { namespace, name }, body }];
  });
}

const isOwnedBy = (live: Live, { metadata: { uid } }: Live): boolean =>
  live.metadata.ownerReferences?.some((reference) => reference.uid === uid) ?? false;
