/** The defaults of a Service. */
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';

const CLIENT_IP_TIMEOUT_SECONDS = 10_800;

export function defaultService(spec: IServiceSpec): void {
  spec.type ??= 'ClusterIP';
  spec.sessionAffinity ??= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP')
    spec.sessionAffinityConfig = {
      clientIP: {
        timeoutSeconds: spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? CLIENT_IP_TIMEOUT_SECONDS,
      },
    };
  for (const port of spec.ports ?? []) {
    port.protocol ??= 'TCP';
    if (!port.targetPort) port.targetPort = port.port;
  }
  if (spec.type !== 'ExternalName') spec.internalTrafficPolicy ??= 'Cluster';
  if (reachableFromOutside(spec)) spec.externalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
}

export function reachableFromOutside(spec: IServiceSpec): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer';
}

export function isHeadless(spec: IServiceSpec): boolean {
  return spec.clusterIP === 'None' || spec.clusterIPs?.[0] === 'None';
}

/** A load balancer that keeps traffic on the node must know which nodes have pods. */
export function needsHealthCheck(spec: IServiceSpec): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

/** clusterIP and the first of clusterIPs are one fact; a client that knows the former alone may change both. */
export function syncClusterIPs(spec: IServiceSpec, old: IServiceSpec | undefined): void {
  if (old === undefined) {
    if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  const isSame = (spec.clusterIP ?? '') === (old.clusterIP ?? '');
  if (isSame && !spec.clusterIPs?.length && old.clusterIPs?.length) spec.clusterIPs = [...old.clusterIPs];
  if (isSame || (spec.clusterIPs ?? []).join() !== (old.clusterIPs ?? []).join()) return;
  if (spec.clusterIP) spec.clusterIPs = [spec.clusterIP];
  else delete spec.clusterIPs;
}
