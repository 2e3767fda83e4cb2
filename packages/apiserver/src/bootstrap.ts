/** What a fresh server holds before the first request. */
import type { ServerParts } from './ports/server-parts.ts';
import { type KubeObject, timestamp } from './types.ts';

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

export function bootstrap({ store, surroundings }: ServerParts): void {
  for (const name of namespaces) {
    if (store.get('/namespaces', undefined, name) !== undefined) continue;
    const namespace: KubeObject = {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: {
        name,
        uid: surroundings.uuid(),
        creationTimestamp: timestamp(surroundings.now()),
        labels: { 'kubernetes.io/metadata.name': name },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    };
    store.create('/namespaces', namespace);
  }
}
