/** Writes the Secret with the keys of auth/slurm that are in force. The plan knows keys by their digests; their values are read here. */
import { hash } from 'node:crypto';
import { annotation, type Controller, keyFile, label, resourceName } from '@slurm-operator/api';
import {
  AlreadyExistsError,
  type Client,
  ConflictError,
  type Live,
  NotFoundError,
  secrets,
} from '@slurm-operator/kube';
import { controllers } from '../../cache/resources.ts';
import { formatKeySet, type KeySet } from '../../keys/key-set.ts';

/** auth/slurm refuses shorter ones in this file. With such a key it is left out, and daemons read slurm.key. */
const shortest = 16;

/** A cache that lags behind, or a key that the user replaced meanwhile, writes nothing: the next reconcile sees what there is. */
export async function writeKeys(
  client: Client,
  controller: Live<Controller>,
  keySet: KeySet,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name, uid } = controller.metadata;
  const ref = { namespace, name: resourceName.slurmKeys(name) };
  const [current, user] = await Promise.all([
    client.find(secrets, ref, { signal }),
    client.find(secrets, { namespace, name: controller.spec.slurmKeyRef?.name ?? '' }, { signal }),
  ]);
  const text = user?.data?.[controller.spec.slurmKeyRef?.key ?? ''] ?? '';
  const known = new Map([
    ...keysIn(current?.data?.[keyFile.slurmKeys]),
    [kidOf(hash('sha256', text)), base64Url(text)],
  ]);
  const keys = keySet.keys.map((digest) => ({ kid: kidOf(digest), k: known.get(kidOf(digest)) }));
  if (keys.some(({ k }) => k === undefined)) return;
  const jwks = {
    keys: keys.map(({ kid, k }) => ({
      alg: 'HS256',
      kty: 'oct',
      kid,
      k,
      ...(kid === kidOf(keySet.signing) ? { use: 'default' } : {}),
    })),
  };
  const isUsable = keys.every(({ k }) => Buffer.from(k ?? '', 'base64url').length >= shortest);
  const data = {
    [keyFile.slurmKeys]: isUsable ? Buffer.from(JSON.stringify(jwks)).toString('base64') : null,
  };
  const annotations = { [annotation.slurmKeys]: formatKeySet(keySet) };
  try {
    if (current === undefined)
      await client.create(
        secrets,
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: {
            ...ref,
            annotations,
            labels: { [label.cluster]: name, [label.partOf]: 'slurm', [label.managedBy]: 'slurm-operator' },
            ownerReferences: [
              {
                apiVersion: controllers.apiVersion,
                kind: controllers.kind,
                name,
                uid,
                controller: true,
                blockOwnerDeletion: true,
              },
            ],
          },
          type: 'Opaque',
          data: isUsable ? data : {},
        } as never,
        { signal },
      );
    else {
      const { resourceVersion } = current.metadata;
      await client.mergePatch(secrets, ref, { metadata: { resourceVersion, annotations }, data }, { signal });
    }
  } catch (error) {
    if (
      !(
        error instanceof AlreadyExistsError ||
        error instanceof ConflictError ||
        error instanceof NotFoundError
      )
    )
      throw error;
  }
}

const kidOf = (digest: string): string => digest.slice(0, 16);

const base64Url = (text: string): string => Buffer.from(text, 'base64').toString('base64url');

/** kid → key, of a file that was written here. */
function keysIn(data: string | undefined): Map<string, string> {
  if (data === undefined) return new Map();
  const { keys } = JSON.parse(Buffer.from(data, 'base64').toString()) as {
    readonly keys: readonly { readonly kid: string; readonly k: string }[];
  };
  return new Map(keys.map(({ kid, k }) => [kid, k]));
}
