/** Status of a hollow node and of its pods: always ready, without running anything. Pure. */
import type { Container, Pod } from './objects.ts';

export const hollowLabel = 'localcluster/hollow';

/** Unused addresses: 100.64.0.0/10, four million of them. */
export function hollowAddress(index: number): string {
  const number = index % 2 ** 22;
  return `100.${64 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
}

export function hollowPodStatus(pod: Pod, address: string, hostIP: string, at: string) {
  const condition = (type: string) => ({
    type,
    status: 'True',
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    lastProbeTime: null,
    lastTransitionTime: at,
  });
  const status = (container: Container) => ({
    name: container.name,
    state: { running: { startedAt: at } },
    lastState: {},
    ready: true,
    started: true,
    restartCount: 0,
    image: container.image ?? '',
    imageID: '',
    containerID: `hollow://${pod.metadata.uid}/${container.name}`,
  });
  return {
    phase: 'Running',
    conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(
      condition,
    ),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: at,
    containerStatuses: pod.spec.containers.map(status),
  };
}
