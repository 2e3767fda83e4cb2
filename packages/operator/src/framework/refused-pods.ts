/** Why the pods of a StatefulSet do not appear. Its status does not say: Kubernetes tells the reason in an event only. */
import {
  type Live,
  type Manager,
  type Pod,
  pods,
  type StatefulSet,
  statefulSets,
} from '@slurm-operator/kube';
import type { Problem } from './status/conditions.ts';
import { refusedRequest } from './status/problem-of.ts';

type Needs = Pick<Manager, 'cache' | 'client'>;

/** Asks the API server whether it would take a missing pod, without creating it. Undefined while none is missing, or it would. */
export async function refusedPods(
  { cache, client }: Needs,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<Problem | undefined> {
  const set = cache.get(statefulSets, { namespace, name });
  const missing =
    set === undefined
      ? undefined
      : missingPod(set, (pod) => cache.get(pods, { namespace, name: pod }) !== undefined);
  if (missing === undefined) return undefined;
  try {
    await client.create(pods, missing, { dryRun: true, signal });
    return undefined;
  } catch (error) {
    if (signal.aborted) throw error;
    const refused = refusedRequest(error);
    // Anything else says nothing about the StatefulSet: the pod may just have appeared.
    if (refused === undefined) return undefined;
    return { ...refused, message: `pod ${missing.metadata.name} cannot be created: ${refused.message}` };
  }
}

/** The first pod that the StatefulSet should have and has not; undefined while its controller has not seen the set. */
export function missingPod(set: Live<StatefulSet>, exists: (name: string) => boolean): Pod | undefined {
  const { metadata, spec, status } = set;
  if (spec === undefined || status?.observedGeneration !== metadata.generation) return undefined;
  const names = Array.from({ length: spec.replicas ?? 1 }, (_, ordinal) => `${metadata.name}-${ordinal}`);
  const name = names.find((one) => !exists(one));
  if (name === undefined) return undefined;
  const claims = (spec.volumeClaimTemplates ?? []).flatMap((claim) => claim.metadata?.name ?? []);
  const { template } = spec;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template.metadata, name, namespace: metadata.namespace ?? '' },
    spec: {
      ...template.spec,
      containers: template.spec?.containers ?? [],
      volumes: [
        ...(template.spec?.volumes ?? []),
        ...claims.map((claim) => ({ name: claim, persistentVolumeClaim: { claimName: `${claim}-${name}` } })),
      ],
    },
  } as Pod;
}
