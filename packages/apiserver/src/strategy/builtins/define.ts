/** Puts one built-in resource together: wire shape, defaults, status subresource, hooks. */

import { asJson } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import {
  allVerbs,
  type ResourceDefinition,
  type ResourceHooks,
  type Subresource,
  schemaOf,
} from '../../resource/resource-definition.ts';
import { shapeForWire } from './wire-shape.ts';

export interface BuiltinHooks extends ResourceHooks {
  /** Reads what the typed model reads in a way of its own; throws a 400. Runs before defaults, on every write. */
  decode?(object: KubeObject): void;
}

export interface BuiltinSpec
  extends Partial<
    Omit<ResourceDefinition, 'hooks' | 'subresources' | 'schema' | 'custom' | 'plural' | 'kind'>
  > {
  readonly kind: string;
  readonly plural: string;
  readonly hooks?: BuiltinHooks;
  /** The kind has a status subresource; hooks for writes through it. */
  readonly status?: true | Pick<ResourceHooks, 'prepareForUpdate' | 'validate' | 'validateUpdate'>;
  /** A client may say the status of a new object (nodes do). */
  readonly keepsStatusOnCreate?: boolean;
  readonly subresources?: Readonly<Record<string, Subresource>>;
}

/** A function that makes the definitions of one API group and version. */
export function groupOf(group: string, version: string): (spec: BuiltinSpec) => ResourceDefinition {
  return (spec) => define(group, version, spec);
}

function define(group: string, version: string, spec: BuiltinSpec): ResourceDefinition {
  const { status, hooks: own = {}, subresources, keepsStatusOnCreate = false, ...rest } = spec;
  const fill = (object: KubeObject) => {
    own.decode?.(object);
    const schema = schemaOf(definition);
    if (schema) shapeForWire(asJson(object), schema, spec.kind, version);
    own.default?.(object);
  };
  const definition: ResourceDefinition = {
    group,
    version,
    singular: spec.kind.toLowerCase(),
    listKind: `${spec.kind}List`,
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: allVerbs,
    storage: `${group}/${spec.plural}`,
    custom: false,
    ...rest,
    hooks: status === undefined ? { ...own, default: fill } : mainHooks(own, fill, keepsStatusOnCreate),
    subresources: {
      ...(status === undefined ? {} : { status: statusSubresource(status === true ? {} : status, fill) }),
      ...subresources,
    },
  };
  return definition;
}

/** The main resource of a kind with a status: what a client sends as status there is ignored. */
function mainHooks(
  own: BuiltinHooks,
  fill: (object: KubeObject) => void,
  keepsStatusOnCreate: boolean,
): ResourceHooks {
  return {
    ...own,
    default: fill,
    async prepareForCreate(object, context) {
      if (!keepsStatusOnCreate) {
        // Shaping again fills in what a status of this kind always has.
        object['status'] = {};
        fill(object);
      }
      await own.prepareForCreate?.(object, context);
    },
    async prepareForUpdate(object, old, context) {
      if (old['status'] === undefined) delete object['status'];
      else object['status'] = structuredClone(old['status']);
      await own.prepareForUpdate?.(object, old, context);
    },
  };
}

/** A write through /status changes status (and labels and annotations), nothing else. */
function statusSubresource(
  own: Pick<ResourceHooks, 'prepareForUpdate' | 'validate' | 'validateUpdate'>,
  fill: (object: KubeObject) => void,
): Subresource {
  return {
    type: 'part',
    verbs: ['get', 'patch', 'update'],
    hooks: {
      ...own,
      default: fill,
      async prepareForUpdate(object, old, context) {
        for (const key of new Set([...Object.keys(object), ...Object.keys(old)])) {
          if (key === 'metadata' || key === 'status') continue;
          if (old[key] === undefined) delete object[key];
          else object[key] = structuredClone(old[key]);
        }
        await own.prepareForUpdate?.(object, old, context);
      },
    },
  };
}
