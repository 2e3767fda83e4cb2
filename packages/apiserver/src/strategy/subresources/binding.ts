/** pods/binding: the scheduler's decision. */

import { ApiError, conflict, notFound } from '../../api/errors.ts';
import { clone } from '../../api/json.ts';
import { typed } from '../../api/typed.ts';
import { type KubeObject, timestamp } from '../../api/types.ts';
import type { Answer } from '../../resource/answer.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import type { ActionSubresource } from '../../resource/resource-definition.ts';
import { admitActionObject, readActionObject, successStatus } from './action-object.ts';

const KIND = { group: '', version: 'v1', kind: 'Binding' };
const PODS = { group: '', resource: 'pods' };

interface Binding {
  readonly target?: { readonly kind?: string; readonly name?: string };
}

interface BoundPod {
  spec: { nodeName?: string };
  status: { conditions?: { type: string; status: string; [key: string]: unknown }[] };
}

export const binding: ActionSubresource = {
  type: 'action',
  verbs: ['create'],
  kind: KIND,
  async handle(context, definition) {
    const read = await readActionObject(context, definition, KIND);
    const object = await admitActionObject(context, definition, KIND, read);
    const target = targetOf(typed<Binding>(object));
    if (!read.options.dryRun) bind(context, object, target);
    else checkBindable(context, podOf(context), object);
    return created();
  },
};

function created(): Answer {
  return { type: 'object', status: 201, object: successStatus(201) };
}

// These faults have no reason and are the server's fault by their code: that is how the real one answers.
function targetOf({ target }: Binding): string {
  const kind = target?.kind ?? '';
  if (kind !== '' && kind !== 'Node')
    throw new ApiError(
      500,
      '',
      `target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`,
    );
  if (!target?.name) throw new ApiError(500, '', 'target.name: Required value');
  return target.name;
}

function podOf({ parts, info }: RequestContext): KubeObject {
  const pod = parts.store.get('/pods', info.namespace, info.name);
  if (pod === undefined) throw notFound(PODS, info.name);
  return pod;
}

function checkBindable({ info }: RequestContext, pod: KubeObject, wanted: KubeObject): void {
  const refuse = (why: string) => conflict({ group: '', resource: 'pods/binding' }, info.name, why);
  // A scheduler that names the uid means that pod, not one of the same name that came after it.
  if (wanted.metadata.uid && wanted.metadata.uid !== pod.metadata.uid)
    throw refuse(
      `StorageError: invalid object, Code: 4, Key: /registry/pods/${info.namespace}/${info.name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${wanted.metadata.uid}, UID in object meta: ${pod.metadata.uid ?? ''}`,
    );
  if (pod.metadata.deletionTimestamp !== undefined)
    throw refuse(`pod ${info.name} is being deleted, cannot be assigned to a host`);
  const { nodeName } = typed<BoundPod>(pod).spec;
  if (nodeName) throw refuse(`pod ${info.name} is already assigned to node ${JSON.stringify(nodeName)}`);
  const gates = (pod['spec'] as { schedulingGates?: unknown[] }).schedulingGates ?? [];
  if (gates.length > 0) throw refuse(`pod ${info.name} has non-empty .spec.schedulingGates`);
}

/** Reading and writing happen in one turn of the event loop, so no other write can come between. */
function bind(context: RequestContext, object: KubeObject, target: string): void {
  const stored = podOf(context);
  checkBindable(context, stored, object);
  const pod = clone(stored);
  const { spec, status } = typed<BoundPod>(pod);
  spec.nodeName = target;
  const { annotations } = object.metadata;
  if (annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
  const { labels } = object.metadata;
  if (labels) pod.metadata.labels = { ...pod.metadata.labels, ...labels };
  const scheduled = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(context.parts.environment.now()),
  };
  const others = (status.conditions ?? []).filter((condition) => condition.type !== 'PodScheduled');
  status.conditions = [...others, scheduled];
  context.parts.store.replace('/pods', pod, stored.metadata.resourceVersion ?? '');
}
