/** Pods and claims of a StatefulSet: stable names, stable storage, and labels that say which ordinal and revision. */
import type { Metadata, PodSpec, PodTemplate, StatefulSet } from '../../objects/objects.ts';
import { controllerReference } from '../../objects/pods.ts';

export interface NewPod {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: Pick<Metadata, 'name' | 'namespace' | 'labels' | 'annotations' | 'ownerReferences'> & {
    readonly generateName: string;
  };
  readonly spec: PodSpec;
}

export interface NewClaim {
  readonly apiVersion: 'v1';
  readonly kind: 'PersistentVolumeClaim';
  readonly metadata: Pick<Metadata, 'name' | 'namespace' | 'labels' | 'annotations' | 'ownerReferences'>;
  readonly spec: unknown;
}

/** The content of a revision: the pod template as it was. */
export interface TemplateRevision {
  readonly metadata: { readonly name: string };
  readonly template: PodTemplate;
}

export function buildPod(set: StatefulSet, ordinal: number, revision: TemplateRevision): NewPod {
  const name = `${set.metadata.name}-${ordinal}`;
  const template = revision.template;
  const claims = (set.spec.volumeClaimTemplates ?? []).map((claim) => ({
    name: claim.metadata?.name ?? '',
    persistentVolumeClaim: { claimName: `${claim.metadata?.name ?? ''}-${name}` },
  }));
  const claimed = new Set(claims.map((volume) => volume.name));
  const others = (template.spec?.volumes ?? []).filter((volume) => !claimed.has(volume.name));
  const volumes = [...claims, ...others];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName: `${set.metadata.name}-`,
      ...(set.metadata.namespace === undefined ? {} : { namespace: set.metadata.namespace }),
      labels: {
        ...template.metadata?.labels,
        'apps.kubernetes.io/pod-index': String(ordinal),
        'controller-revision-hash': revision.metadata.name,
        'statefulset.kubernetes.io/pod-name': name,
      },
      ...(template.metadata?.annotations === undefined ? {} : { annotations: template.metadata.annotations }),
      ownerReferences: [controllerReference(set, 'apps/v1', 'StatefulSet')],
    },
    spec: {
      ...template.spec,
      containers: template.spec?.containers ?? [],
      ...(volumes.length > 0 ? { volumes } : {}),
      hostname: name,
      ...(set.spec.serviceName === undefined || set.spec.serviceName === ''
        ? {}
        : { subdomain: set.spec.serviceName }),
    },
  };
}

export function buildClaims(set: StatefulSet, ordinal: number): NewClaim[] {
  const owned = set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete';
  return (set.spec.volumeClaimTemplates ?? []).map((claim) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: `${claim.metadata?.name ?? ''}-${set.metadata.name}-${ordinal}`,
      ...(set.metadata.namespace === undefined ? {} : { namespace: set.metadata.namespace }),
      labels: { ...claim.metadata?.labels, ...set.spec.selector.matchLabels },
      ...(claim.metadata?.annotations === undefined ? {} : { annotations: claim.metadata.annotations }),
      ...(owned ? { ownerReferences: [controllerReference(set, 'apps/v1', 'StatefulSet')] } : {}),
    },
    spec: claim.spec,
  }));
}
