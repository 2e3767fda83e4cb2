/** Which addresses a cluster uses: everything lies in one /16, so that the host needs a single route per cluster. */
export interface AddressPlan {
  /** The second number of 10.x.0.0/16. */
  readonly block: number;
  readonly clusterRange: string;
  /** Pods of node i live in 10.x.i.0/24. */
  readonly podRange: string;
  readonly serviceRange: string;
  readonly kubernetesService: string;
  readonly dnsService: string;
  /** The host's own end of the link into the cluster: API server, DNS and agents answer there. */
  readonly host: string;
  readonly gateway: string;
  readonly nodeGateway: string;
  readonly podCidr: (node: number) => string;
  readonly nodeAddress: (node: number) => string;
  readonly ingressAddress: (index: number) => string;
}

export const maxNodes = 200;

export const maxIngress = 250;

export function planAddresses(block: number): AddressPlan {
  const at = (third: number, fourth: number) => `10.${block}.${third}.${fourth}`;
  return {
    block,
    clusterRange: `10.${block}.0.0/16`,
    podRange: `10.${block}.0.0/16`,
    serviceRange: `10.${block}.224.0/20`,
    kubernetesService: at(224, 1),
    dnsService: at(224, 10),
    host: at(255, 1),
    gateway: at(255, 2),
    nodeGateway: at(254, 1),
    podCidr: (node) => `10.${block}.${node}.0/24`,
    nodeAddress: (node) => at(254, 10 + node),
    ingressAddress: (index) => at(250, 1 + index),
  };
}
