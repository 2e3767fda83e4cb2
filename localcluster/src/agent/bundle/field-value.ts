/** The value of a downward-API path of a pod (`metadata.name`, `metadata.labels['app']`, `status.podIP`, …). */
import type { Pod } from '../../objects/objects.ts';

export function fieldValue(pod: Pod, path: string): string {
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path);
  if (subscript !== null) {
    const map = subscript[1] === 'labels' ? pod.metadata.labels : pod.metadata.annotations;
    return map?.[subscript[2] ?? ''] ?? '';
  }
  switch (path) {
    case 'metadata.name':
      return pod.metadata.name;
    case 'metadata.namespace':
      return pod.metadata.namespace ?? '';
    case 'metadata.uid':
      return pod.metadata.uid;
    case 'metadata.labels':
      return lines(pod.metadata.labels);
    case 'metadata.annotations':
      return lines(pod.metadata.annotations);
    case 'spec.nodeName':
      return pod.spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return pod.spec.serviceAccountName ?? '';
    case 'status.podIP':
      return pod.status?.podIP ?? '';
    case 'status.podIPs':
      return (pod.status?.podIPs ?? []).map((entry) => entry.ip).join(',');
    case 'status.hostIP':
      return pod.status?.hostIP ?? '';
    case 'status.hostIPs':
      return pod.status?.hostIP ?? '';
    default:
      return '';
  }
}

/** A map as a file: one `key="value"` per line, sorted. */
function lines(map: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(map ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');
}
