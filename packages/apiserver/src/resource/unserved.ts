/**
 * Parts of the API that a real server lists and this one does not serve. Discovery names them, so that clients see the
 * API they know; a request for one is answered with 501 and its name.
 */
import { allVerbs, type Verb } from './resource-definition.ts';

export interface UnservedResource {
  readonly group: string;
  readonly version: string;
  /** `componentstatuses`, or `pods/exec`. */
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Objects would be stored under this kind. */
  readonly stored: boolean;
}

const proxying: readonly Verb[] = ['create', 'delete', 'get', 'patch', 'update'];
const partial: readonly Verb[] = ['get', 'patch', 'update'];

function unserved(name: string, kind: string, verbs: readonly Verb[], namespaced = true): UnservedResource {
  const none = { group: '', version: 'v1', singular: '', shortNames: [], categories: [], stored: false };
  return { ...none, name, kind, namespaced, verbs };
}

function storage(name: string, kind: string, namespaced = false): UnservedResource {
  return {
    ...unserved(name, kind, allVerbs, namespaced),
    group: 'storage.k8s.io',
    singular: kind.toLowerCase(),
    stored: true,
  };
}

function policy(name: string, kind: string): UnservedResource {
  return {
    ...unserved(name, kind, allVerbs, false),
    group: 'admissionregistration.k8s.io',
    singular: kind.toLowerCase(),
    categories: ['api-extensions'],
    stored: true,
  };
}

export const unservedResources: readonly UnservedResource[] = [
  { ...unserved('bindings', 'Binding', ['create']), singular: 'binding' },
  {
    ...unserved('componentstatuses', 'ComponentStatus', ['get', 'list'], false),
    singular: 'componentstatus',
    shortNames: ['cs'],
  },
  unserved('nodes/proxy', 'NodeProxyOptions', proxying, false),
  unserved('pods/attach', 'PodAttachOptions', ['create', 'get']),
  unserved('pods/ephemeralcontainers', 'Pod', partial),
  unserved('pods/exec', 'PodExecOptions', ['create', 'get']),
  unserved('pods/log', 'Pod', ['get']),
  unserved('pods/portforward', 'PodPortForwardOptions', ['create', 'get']),
  unserved('pods/proxy', 'PodProxyOptions', proxying),
  unserved('pods/resize', 'Pod', partial),
  unserved('services/proxy', 'ServiceProxyOptions', proxying),
  storage('csidrivers', 'CSIDriver'),
  storage('csinodes', 'CSINode'),
  storage('csistoragecapacities', 'CSIStorageCapacity', true),
  storage('volumeattachments', 'VolumeAttachment'),
  storage('volumeattributesclasses', 'VolumeAttributesClass'),
  policy('mutatingadmissionpolicies', 'MutatingAdmissionPolicy'),
  policy('mutatingadmissionpolicybindings', 'MutatingAdmissionPolicyBinding'),
];

/** Groups and versions of which nothing is served. */
export const unservedVersions: readonly (readonly [group: string, version: string])[] = [
  ['apiregistration.k8s.io', 'v1'],
  ['autoscaling', 'v1'],
  ['certificates.k8s.io', 'v1'],
  ['node.k8s.io', 'v1'],
  ['resource.k8s.io', 'v1'],
  ['flowcontrol.apiserver.k8s.io', 'v1'],
];

/** Paths off the API that a real server answers. */
const unservedPaths = [
  /^\/\.well-known\/openid-configuration$/,
  /^\/openid\/v1\/jwks$/,
  /^\/metrics(?:\/slis)?$/,
  /^\/(?:flagz|statusz|configz)$/,
  /^\/(?:logs|debug)(?:\/|$)/,
];

/** The name of such a path; undefined when it is none. */
export function unservedPath(path: string): string | undefined {
  return unservedPaths.some((pattern) => pattern.test(path)) ? path : undefined;
}

/** The unserved resource of a request; undefined if Kubernetes has no such resource. */
export function unservedFeature(
  group: string,
  version: string,
  plural: string,
  subresource: string,
): string | undefined {
  const name = subresource === '' ? plural : `${plural}/${subresource}`;
  const within = group === '' ? version : `${group}/${version}`;
  const isListed = unservedResources.some(
    (each) => each.group === group && each.version === version && each.name === name,
  );
  const isWholeVersion = unservedVersions.some(([a, b]) => a === group && b === version);
  return isListed || isWholeVersion ? `${name} of ${within}` : undefined;
}
