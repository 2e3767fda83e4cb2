/** The comment of a Slurm node: whose it is, and what must outlive its pod. The operator writes it as JSON. */
import type { Observed, Worker } from './observed.ts';

export interface NodeComment {
  readonly namespace: string;
  readonly podName: string;
  /** The Kubernetes Node. */
  readonly node: string;
  readonly nodeSetName: string;
  readonly nodeSetUID: string;
  /** The pod that a person cordoned. Its successor takes the cordon over. */
  readonly cordonedPodUID?: string;
  /** Autoscale: digest of what the record was created with, which its workers do not change. */
  readonly conf?: string;
}

export function commentOf(
  worker: Worker,
  { namespace, name, uid }: Pick<Observed, 'namespace' | 'name' | 'uid'>,
  cordonedPodUID: string | undefined,
  conf?: string,
): string {
  const comment: NodeComment = {
    namespace,
    podName: worker.name,
    node: worker.nodeName ?? '',
    nodeSetName: name,
    nodeSetUID: uid,
    ...(cordonedPodUID === undefined ? {} : { cordonedPodUID }),
    ...(conf === undefined ? {} : { conf }),
  };
  return JSON.stringify(comment);
}

/** Undefined for a comment that someone else wrote. */
export function parseComment(text: string): Partial<Record<keyof NodeComment, unknown>> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined for a record that was not created for an autoscaled NodeSet. */
export const confIn = (comment: string): string | undefined => /"conf":"(\w+)"/.exec(comment)?.[1];

export function cordonedPodIn(comment: string): string | undefined {
  // Few nodes are cordoned: the others are not parsed at each plan.
  if (!comment.includes('cordonedPodUID')) return undefined;
  const uid = parseComment(comment)?.cordonedPodUID;
  return typeof uid === 'string' ? uid : undefined;
}
