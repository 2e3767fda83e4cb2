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

/** clusterIP and the first of clusterIPs are one fact; a client that knows one of them changes both. */
export function syncClusterIPs(spec: IServiceSpec, old: IServiceSpec | undefined): void {
  const changedOne = old !== undefined && spec.clusterIP !== old.clusterIP;
  const sameList = old !== undefined && spec.clusterIPs?.join() === old.clusterIPs?.join();
  if (spec.clusterIP && (!spec.clusterIPs?.length || (changedOne && sameList)))
    spec.clusterIPs = [spec.clusterIP];
  else if (!spec.clusterIP && spec.clusterIPs?.[0]) spec.clusterIP = spec.clusterIPs[0];
}
