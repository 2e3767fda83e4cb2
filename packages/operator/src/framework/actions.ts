/** What a plan asks for: values that can be printed, compared and simulated. Nothing here does I/O. */

import { inspect } from 'node:util';
import type { AnyResource, ApplyIntent, KubeObject, ObjectRef } from '@slurm-operator/kube';

interface Step {
  /** Titles of earlier actions; if one of them failed, this one is skipped. */
  readonly needs?: readonly string[];
}

/** Server-side apply. */
export interface ApplyAction extends Step {
  readonly type: 'Apply';
  readonly resource: AnyResource;
  readonly object: ApplyIntent<KubeObject>;
  /** Take over an object of that name that has no owner. @default true */
  readonly adopt?: boolean;
  /** False: the object names its owners itself, because others share it. @default true */
  readonly owned?: boolean;
}

/** One that exists already is left as it is. */
export interface CreateAction extends Step {
  readonly type: 'Create';
  readonly resource: AnyResource;
  readonly object: KubeObject;
}

export interface PatchAction extends Step {
  readonly type: 'Patch';
  readonly resource: AnyResource;
  readonly ref: ObjectRef;
  readonly body: object;
  /** @default 'merge' */
  readonly patch?: 'merge' | 'strategic' | 'json';
}

export interface DeleteAction extends Step {
  readonly type: 'Delete';
  readonly resource: AnyResource;
  readonly ref: ObjectRef;
  /** An object created since under the same name is left alone. */
  readonly uid: string;
  readonly propagation?: 'Orphan';
  /** Seconds; a pod with nothing to save ends at once with 0. */
  readonly gracePeriodSeconds?: number;
}

/** An action that only one kind knows, such as draining a node; its reconciler carries it out. */
export interface CustomAction extends Step {
  readonly type: string;
  readonly title: string;
}

export type Action = ApplyAction | CreateAction | PatchAction | DeleteAction;

/** Names the object in messages about the action: "Service slurm-restapi". */
export function titleOf(action: Action | CustomAction): string {
  if ('title' in action) return action.title;
  const name = 'object' in action ? action.object.metadata.name : action.ref.name;
  return `${action.resource.kind} ${name}`;
}

/** One line per action, without the content of any object: a plan with Secrets can be printed. */
export function describeActions(actions: readonly (Action | CustomAction)[]): string[] {
  return actions.map((action) => {
    const { needs = [] } = action;
    const after = needs.length === 0 ? '' : ` after ${needs.join(', ')}`;
    return `${words(action.type)} ${titleOf(action)}${after}`;
  });
}

/** "WriteReservation" → "write reservation" */
const words = (type: string): string => type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

/** A value that a plan carries and nothing prints: JSON, the log and the inspector show a placeholder. */
const placeholder = '[redacted]';

export class Sensitive<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toJSON(): string {
    return placeholder;
  }

  toString(): string {
    return placeholder;
  }

  [inspect.custom](): string {
    return placeholder;
  }
}
