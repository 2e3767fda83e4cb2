/** The Node object of a machine: its capacity, addresses and conditions. Pure. */
export interface NodeDescription {
  readonly name: string;
  readonly address: string;
  readonly podCidr: string;
  readonly agentPort: number;
  readonly capacity: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly kernel: string;
  readonly osImage: string;
  readonly bootId: string;
  readonly architecture: string;
}

export function buildNode(node: NodeDescription) {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node.name,
      labels: {
        'kubernetes.io/hostname': node.name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': node.architecture,
        ...node.labels,
      },
    },
    spec: { podCIDR: node.podCidr, podCIDRs: [node.podCidr], providerID: `localcluster://${node.name}` },
  };
}

/** `images` as `kubectl get node -o yaml` lists them. */
export function nodeStatus(
  node: NodeDescription,
  now: number,
  images: readonly { names: readonly string[] }[] = [],
) {
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    lastHeartbeatTime: at,
    lastTransitionTime: at,
    reason,
    message,
  });
  return {
    capacity: node.capacity,
    allocatable: node.capacity,
    conditions: [
      condition(
        'MemoryPressure',
        'False',
        'KubeletHasSufficientMemory',
        'kubelet has sufficient memory available',
      ),
      condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
      condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
      condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
    ],
    addresses: [
      { type: 'InternalIP', address: node.address },
      { type: 'Hostname', address: node.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: node.agentPort } },
    nodeInfo: {
      machineID: node.bootId.replaceAll('-', ''),
      systemUUID: node.bootId,
      bootID: node.bootId,
      kernelVersion: node.kernel,
      osImage: node.osImage,
      containerRuntimeVersion: 'runc://1.1',
      kubeletVersion: 'v1.36.4',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: node.architecture,
    },
    images: images.slice(0, 50).map(({ names }) => ({ names, sizeBytes: 0 })),
  };
}
