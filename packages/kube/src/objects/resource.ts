/** Resource descriptors: what this library needs to know about a kind, built-in or custom. */
import type { Draft, KubeObject } from './object.ts';

declare const typed: unique symbol;

/** Describes one kind at one version, and carries the TypeScript type of its objects. */
export interface Resource<T extends KubeObject = KubeObject> {
  readonly apiVersion: string;
  readonly kind: string;
  /** The lower-case plural, as in the URL. */
  readonly plural: string;
  readonly namespaced: boolean;
  readonly [typed]?: T;
}

/** A resource whose object type does not matter, as a parameter. */
// oxlint-disable-next-line typescript/no-explicit-any -- the type parameter is a phantom in both directions
export type AnyResource = Resource<any>;

/** `defineResource<Widget>({ apiVersion: 'example.org/v1', kind: 'Widget', plural: 'widgets', namespaced: true })` */
export function defineResource<T extends KubeObject>(descriptor: {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}): Resource<T> {
  return Object.freeze({ ...descriptor });
}

export function groupOf(resource: AnyResource): string {
  const slash = resource.apiVersion.indexOf('/');
  return slash < 0 ? '' : resource.apiVersion.slice(0, slash);
}

/** `pods` or `deployments.apps`: how messages and metrics name a resource. */
export function resourceName(resource: AnyResource): string {
  const group = groupOf(resource);
  return group === '' ? resource.plural : `${resource.plural}.${group}`;
}

/** The URL path of a collection, an object, or one of its subresources. */
export function pathOf(
  resource: AnyResource,
  at: {
    readonly namespace?: string | undefined;
    readonly name?: string | undefined;
    readonly subresource?: string | undefined;
  } = {},
): string {
  const root = resource.apiVersion.includes('/') ? 'apis' : 'api';
  let path = `/${root}/${resource.apiVersion}`;
  if (resource.namespaced && at.namespace !== undefined && at.namespace !== '')
    path += `/namespaces/${encodeURIComponent(at.namespace)}`;
  path += `/${resource.plural}`;
  if (at.name !== undefined) {
    if (at.name === '' || at.name === '.' || at.name === '..')
      throw new TypeError(`cannot address ${resource.kind} "${at.name}": not a valid object name`);
    if (resource.namespaced && (at.namespace === undefined || at.namespace === ''))
      throw new TypeError(`cannot address ${resource.kind} "${at.name}": a namespace is required`);
    path += `/${encodeURIComponent(at.name)}`;
  }
  return at.subresource === undefined ? path : `${path}/${at.subresource}`;
}

/**
 * An object of this kind from parts that only the server checks: a user's template, YAML, or a type that another library generated. The one
 * place where such parts become typed; write a literal with its type where you can.
 */
export function draftOf<T extends KubeObject>({ apiVersion, kind }: Resource<T>, parts: object): Draft<T> {
  return { apiVersion, kind, ...parts } as unknown as Draft<T>; // what the parts are is checked by the server
}
