/** Objects as the API server would have stored them, for tests. */
import type { Live } from '../src/objects/object.ts';
import type { Pod } from '../src/objects/resources.ts';

/** What a test is about; everything else of the object has a value. */
export interface PodParts {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

type StoredPod = Live<Pod> & {
  readonly spec: NonNullable<Live<Pod>['spec']>;
  readonly status: NonNullable<Live<Pod>['status']>;
};

/** A pod with one container. The parts may be incomplete, such as a status with conditions alone. */
export function aPod({ metadata = {}, spec = {}, status = {} }: PodParts = {}): StoredPod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      namespace: 'ns',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    spec: { containers: [{ name: 'c' }], ...spec },
    status,
    // Tests give incomplete parts on purpose.
  } as unknown as StoredPod;
}
