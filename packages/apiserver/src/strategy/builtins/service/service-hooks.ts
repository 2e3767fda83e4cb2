/** What is special about Services. */

import type { IService } from 'kubernetes-models/v1/Service';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import { equal } from '../../../api/json.ts';
import { typed } from '../../../api/typed.ts';
import type { KubeObject } from '../../../api/types.ts';
import type { ResourceHooks } from '../../../resource/resource-definition.ts';
import { allocateService } from './allocate-service.ts';
import { defaultService, reachableFromOutside, syncClusterIPs } from './default-service.ts';
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
    // What validation will refuse must not take an address.
    if (validateService(service.spec).length === 0)
      allocateService(service, context.parts.store, context.query.has('dryRun'));
  },
  prepareForUpdate(object, old, context) {
    const service = asService(object);
    const before = asService(old).spec;
    if (!service.spec || !before) return;
    dropTypeDependent(service.spec, before);
    keepAllocated(service.spec, before);
    syncClusterIPs(service.spec, before);
    const faults = [...validateService(service.spec), ...validateServiceUpdate(service.spec, before)];
    if (faults.length === 0) allocateService(service, context.parts.store, context.query.has('dryRun'));
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

/** What belonged to the type a Service had goes with it, unless the client set it again. */
function dropTypeDependent(spec: IServiceSpec, before: IServiceSpec): void {
  if (spec.type === before.type) return;
  if (before.type === 'LoadBalancer')
    for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const)
      if (spec[field] === before[field]) delete spec[field];
  // A name elsewhere has no address here.
  if (spec.type === 'ExternalName') {
    if (equal([spec.clusterIP, spec.clusterIPs], [before.clusterIP, before.clusterIPs])) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    for (const field of ['ipFamilies', 'ipFamilyPolicy'] as const)
      if (equal(spec[field], before[field])) delete spec[field];
  }
  if (reachableFromOutside(spec)) return;
  for (const port of spec.ports ?? []) {
    const same = before.ports?.find((other) => other.port === port.port && other.protocol === port.protocol);
    if (port.nodePort !== undefined && port.nodePort === same?.nodePort) delete port.nodePort;
  }
  if (spec.externalTrafficPolicy === before.externalTrafficPolicy) delete spec.externalTrafficPolicy;
  if (spec.healthCheckNodePort === before.healthCheckNodePort) delete spec.healthCheckNodePort;
}

/** A replace that leaves out what the server gave keeps it. */
function keepAllocated(spec: IServiceSpec, before: IServiceSpec): void {
  if (
    spec.type !== 'ExternalName' &&
    before.type !== 'ExternalName' &&
    !spec.clusterIP &&
    !spec.clusterIPs?.length
  ) {
    if (before.clusterIP !== undefined) spec.clusterIP = before.clusterIP;
    if (before.clusterIPs !== undefined) spec.clusterIPs = [...before.clusterIPs];
  }
  if (spec.type !== 'ExternalName') {
    spec.ipFamilies ??= before.ipFamilies ? [...before.ipFamilies] : undefined;
    spec.ipFamilyPolicy ??= before.ipFamilyPolicy;
    if (spec.ipFamilies === undefined) delete spec.ipFamilies;
    if (spec.ipFamilyPolicy === undefined) delete spec.ipFamilyPolicy;
  }
  if (!reachableFromOutside(spec) || !reachableFromOutside(before)) return;
  for (const port of spec.ports ?? []) {
    if (port.nodePort) continue;
    const same = before.ports?.find((other) => other.port === port.port && other.protocol === port.protocol);
    if (same?.nodePort) port.nodePort = same.nodePort;
  }
}
