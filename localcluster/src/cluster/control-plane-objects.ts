/** Objects a cluster has from the beginning: the API server's own Service, DNS, and the default StorageClass. */
import type { AddressPlan } from '../network/addresses.ts';

export interface Ports {
  readonly api: number;
  readonly dns: number;
}

export function controlPlaneObjects(
  plan: AddressPlan,
  ports: Ports,
): { path: string; object: Record<string, unknown> }[] {
  const service = (
    namespace: string,
    name: string,
    clusterIP: string,
    list: readonly Record<string, unknown>[],
  ) => ({
    path: `/api/v1/namespaces/${namespace}/services`,
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace },
      spec: { clusterIP, ports: list },
    },
  });
  const slice = (namespace: string, name: string, list: readonly Record<string, unknown>[]) => ({
    path: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
    object: {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name,
        namespace,
        labels: {
          'kubernetes.io/service-name': name,
          'endpointslice.kubernetes.io/managed-by': 'localcluster',
        },
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: [plan.host], conditions: { ready: true } }],
      ports: list,
    },
  });
  const dnsPorts = (number: number) => [
    { name: 'dns', protocol: 'UDP', port: number },
    { name: 'dns-tcp', protocol: 'TCP', port: number },
  ];
  return [
    service('default', 'kubernetes', plan.kubernetesService, [
      { name: 'https', protocol: 'TCP', port: 443, targetPort: ports.api },
    ]),
    slice('default', 'kubernetes', [{ name: 'https', protocol: 'TCP', port: ports.api }]),
    service('kube-system', 'kube-dns', plan.dnsService, dnsPorts(53)),
    slice('kube-system', 'kube-dns', dnsPorts(ports.dns)),
    {
      path: '/apis/storage.k8s.io/v1/storageclasses',
      object: {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: {
          name: 'standard',
          annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
        },
        provisioner: 'localcluster/directory',
        reclaimPolicy: 'Delete',
        volumeBindingMode: 'Immediate',
      },
    },
  ];
}
