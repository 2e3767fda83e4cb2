/** What is still there of something that is being removed, and what it waits for. Pure. */
import { conditionType } from '@slurm-operator/api';
import { type Condition, type DeepReadonly, findCondition, type KubeObject } from '@slurm-operator/kube';
import { oneLine, type WaitingLine } from './wait-report.ts';

/** Namespaces, custom resources and their definitions, pods: each with its kind, which lists of objects leave out. */
export interface Remaining {
  readonly kind: string;
  readonly object: DeepReadonly<KubeObject>;
}

export const notRemoved = (remaining: readonly Remaining[]): WaitingLine[] =>
  remaining.map(({ kind, object }) => {
    const { name, namespace = '' } = object.metadata;
    const { why, isFault } = kind === 'Namespace' ? ofNamespace(object) : ofObject(kind, object);
    return { subject: `${kind} ${name}`, namespace, why: oneLine(why), isFault };
  });

const conditionsOf = (object: DeepReadonly<KubeObject>): readonly Condition[] =>
  (object as { status?: { conditions?: readonly Condition[] } }).status?.conditions ?? [];

function ofNamespace(object: DeepReadonly<KubeObject>): Pick<WaitingLine, 'why' | 'isFault'> {
  if (object.metadata.deletionTimestamp === undefined) return { why: 'is not deleted yet', isFault: false };
  const told = conditionsOf(object).filter(({ status }) => status === 'True');
  const isFault = told.some(({ type }) => type.endsWith('Failure'));
  const messages = told.map(({ message }) => message).join('; ');
  return { why: messages === '' ? 'is being deleted' : messages, isFault };
}

function ofObject(kind: string, object: DeepReadonly<KubeObject>): Pick<WaitingLine, 'why' | 'isFault'> {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined) return { why: 'is not deleted yet', isFault: false };
  if (kind === 'Pod') {
    const node = (object as { spec?: { nodeName?: string } }).spec?.nodeName;
    return {
      why: `its containers are being stopped${node === undefined ? '' : ` on node ${node}`}`,
      isFault: false,
    };
  }
  const conditions = conditionsOf(object);
  const progressing = findCondition(conditions, conditionType.progressing);
  const told = progressing?.status === 'True' ? progressing : findCondition(conditions, conditionType.ready);
  const held = finalizers.length === 0 ? '' : ` (finalizers: ${finalizers.join(', ')})`;
  const why = told === undefined ? 'is being deleted' : `is being deleted: ${told.reason}: ${told.message}`;
  return { why: `${why}${held}`, isFault: false };
}
