/** What a plan asks for: values that can be printed, compared and simulated. Nothing here does I/O. */
import type { AnyResource, KubeObject, ObjectRef } from '@slurm-operator/kube';

interface Step {
  /** Titles of earlier actions; if one of them failed, this one is skipped. */
  readonly needs?: readonly string[];
}

/** Server-side apply of an object that the reconciled object owns. */
export interface ApplyAction extends Step {
  readonly type: 'Apply';
  readonly resource: AnyResource;
  readonly object: KubeObject;
  /** Take over an object of that name that has no owner. @default true */
  readonly adopt?: boolean;
}

export interface PatchAction extends Step {
  readonly type: 'Patch';
  readonly resource: AnyResource;
  readonly ref: ObjectRef;
  readonly body: object;
}

/** By uid, so that an object created since under the same name is left alone. */
export interface DeleteAction extends Step {
  readonly type: 'Delete';
  readonly resource: AnyResource;
  readonly ref: ObjectRef;
  readonly uid: string;
  readonly propagation?: 'Orphan';
}

/** An action that only one kind knows, such as signing a token; its reconciler carries it out. */
export interface CustomAction extends Step {
  readonly type: string;
  readonly title: string;
}

export type Action = ApplyAction | PatchAction | DeleteAction;

/** Names the object in messages about the action: "Service slurm-restapi". */
export function titleOf(action: Action | CustomAction): string {
  if ('title' in action) return action.title;
  const name = action.type === 'Apply' ? action.object.metadata.name : action.ref.name;
  return `${action.resource.kind} ${name}`;
}

/** One line per action, without the content of any object: a plan with Secrets can be printed. */
export function describeActions(actions: readonly (Action | CustomAction)[]): string[] {
  return actions.map((action) => {
    const { needs = [] } = action;
    const after = needs.length === 0 ? '' : ` after ${needs.join(', ')}`;
    return `${action.type.toLowerCase()} ${titleOf(action)}${after}`;
  });
}
