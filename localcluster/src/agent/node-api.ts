/** What a node asks of the API server. Reads of configuration are remembered for a while, as a real node does. */
import type {
  DataObject,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodStatus,
  Service,
} from '../objects/objects.ts';
import type { TokenRequest } from './volumes/payload.ts';

export interface NodeApi {
  configMap(namespace: string, name: string, maxAgeMs: number): Promise<DataObject | undefined>;
  secret(namespace: string, name: string, maxAgeMs: number): Promise<DataObject | undefined>;
  claim(namespace: string, name: string): Promise<PersistentVolumeClaim | undefined>;
  volume(name: string): Promise<PersistentVolume | undefined>;
  token(pod: Pod, request: TokenRequest): Promise<{ token: string; expiresAt: number }>;
  services(): readonly Service[];
  patchStatus(pod: Pod, status: PodStatus): Promise<Pod>;
  /** Says that nothing of the pod is left on this node. */
  confirmDeletion(pod: Pod): Promise<void>;
  event(pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string): void;
}
