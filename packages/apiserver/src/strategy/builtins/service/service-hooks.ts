/** What is special about Services. */

import type { IService } from 'kubernetes-models/v1/Service';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import { equal } from '../../../api/json.ts';
import { typed } from '../../../api/typed.ts';
import type { KubeObject } from '../../../api/types.ts';
import type { ResourceHooks } from '../../../resource/resource-definition.ts';
import { allocateService } from './allocate-service.ts';
import { defaultService, needsHealthCheck, reachableFromOutside, syncClusterIPs } from './default-service.ts';
import { validateService, validateServiceUpdate } from './validate-service.ts';

function asService(object: KubeObject): IService {
  return typed<IService>(object);
}

export const serviceHooks: ResourceHooks = {
  default(object) {
    const { spec, status } = asService(object);
    if (spec) defaultService(spec);
    if (spec?.type === 'LoadBalancer')
      for (const one of status?.loadBalancer?.ingress ?? []) if (one.ip) one.ipMode ??= 'VIP';
  },
  prepareForCreate(object, context) {
    const service = asService(object);
    if (!service.spec) return;
    syncClusterIPs(service.spec, undefined);
    allocateService(service, undefined, context.parts.store, context.query.has('dryRun'));
  },
  prepareForUpdate(object, old, context) {
    const service = asService(object);
    const before = asService(old).spec;
    if (!service.spec || !before) return;
    keepAllocated(service.spec, before);
    syncClusterIPs(service.spec, before);
    allocateService(service, before, context.parts.store, context.query.has('dryRun'));
    dropTypeDependent(service.spec, before);
    if (service.spec.type !== 'LoadBalancer' && service.status) service.status.loadBalancer = {};
  },
  validate(object) {
    const { spec } = asService(object);
    return spec ? validateService(spec) : [];
  },
  validateUpdate(object, old) {
    const { spec } = asService(object);
    const before = asService(old).spec;
    return spec && before ? validateServiceUpdate(spec, before) : [];
  },
};

const nodePorts = (spec: IServiceSpec): number[] =>
  (spec.ports ?? []).flatMap(({ nodePort }) => (nodePort ? [nodePort] : []));

/** Deletes the fields that are as they were. */
function dropUnchanged(
  spec: IServiceSpec,
  before: IServiceSpec,
  fields: readonly (keyof IServiceSpec)[],
): void {
  for (const field of fields) if (equal(spec[field], before[field])) delete spec[field];
}

/** What belonged to the type that a Service had goes with it, unless the client set it again. */
function dropTypeDependent(spec: IServiceSpec, before: IServiceSpec): void {
  // A name elsewhere has no address here.
  if (spec.type === 'ExternalName' && before.type !== 'ExternalName') {
    if (equal([spec.clusterIP, spec.clusterIPs], [before.clusterIP, before.clusterIPs])) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    dropUnchanged(spec, before, ['ipFamilies', 'ipFamilyPolicy']);
  }
  if (reachableFromOutside(before) && !reachableFromOutside(spec)) {
    const had = nodePorts(before);
    if (nodePorts(spec).every((port) => had.includes(port)))
      for (const port of spec.ports ?? []) delete port.nodePort;
    dropUnchanged(spec, before, ['externalTrafficPolicy']);
  }
  if (needsHealthCheck(before) && !needsHealthCheck(spec))
    dropUnchanged(spec, before, ['healthCheckNodePort']);
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer')
    dropUnchanged(spec, before, ['allocateLoadBalancerNodePorts', 'loadBalancerClass']);
}

/** A replace that leaves out what the server gave keeps it. */
function keepAllocated(spec: IServiceSpec, before: IServiceSpec): void {
  if (spec.type !== 'ExternalName' && before.type !== 'ExternalName') {
    if (!spec.clusterIP && before.clusterIP !== undefined) spec.clusterIP = before.clusterIP;
    if (!spec.clusterIPs?.length && before.clusterIPs !== undefined) spec.clusterIPs = [...before.clusterIPs];
  }
  if (reachableFromOutside(spec) && reachableFromOutside(before)) {
    // Ports are known again by their names: a client that sends none means the only one.
    const byName = new Map((before.ports ?? []).map((port) => [port.name ?? '', port.nodePort]));
    const had = new Set(nodePorts(before));
    const used = new Set(nodePorts(spec).filter((port) => had.has(port)));
    for (const port of spec.ports ?? []) {
      const known = byName.get(port.name ?? '');
      if (port.nodePort || !known || used.has(known)) continue;
      port.nodePort = known;
      used.add(known);
    }
  }
  if (needsHealthCheck(spec) && needsHealthCheck(before) && !spec.healthCheckNodePort)
    spec.healthCheckNodePort = before.healthCheckNodePort;
}
