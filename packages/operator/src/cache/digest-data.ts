/**
 * Secrets and ConfigMaps are cached as digests: a change can be seen and a key looked for, while no secret rests in
 * memory. Code that needs a value reads it from the API server and does not keep it.
 */
import { hash } from 'node:crypto';
import { dropBookkeeping, type KubeObject, type Live } from '@slurm-operator/kube';

interface WithData extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

/** For Secrets and ConfigMaps; `T` says which, and the compiler cannot know that both have data. */
export function digestData<T extends KubeObject>(object: Live<T>): Live<T> {
  const {
    data,
    binaryData,
    stringData: _,
    ...rest
  } = dropBookkeeping(object) as unknown as Live<WithData> & {
    stringData?: unknown;
  };
  const digests = Object.fromEntries(
    Object.entries({ ...data, ...binaryData }).map(([key, value]) => [key, hash('sha256', value)]),
  );
  return { ...rest, data: digests } as unknown as Live<T>; // the same object, with digests for values
}
