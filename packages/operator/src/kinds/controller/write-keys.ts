/** Writes the Secret with the keys of auth/slurm that are in force. The plan knows keys by their digests; their values are read here. */
import { hash } from 'node:crypto';
import { annotation, type Controller, keyFile, label, resourceName } from '@slurm-operator/api';
import {
  AlreadyExistsError,
  type Client,
  ConflictError,
  draftOf,
  type Live,
  NotFoundError,
  secrets,
} from '@slurm-operator/kube';
import { controllers } from '../../cache/resources.ts';
import { daemonHash, formatKeySet, type KeySet, loginHash, parseKeySet } from '../../keys/key-set.ts';
import { keySetFile } from '../../objects/key-sources.ts';

/**
 * auth/slurm refuses shorter ones in this file, and accepts them in slurm.key. Zeros at the end do not change an HMAC, so a short key is
 * filled with them.
 */
const shortest = 32;

/** A cache that lags behind, or a key that the user replaced meanwhile, writes nothing: the next reconcile sees what there is. */
export async function writeKeys(
  client: Client,
  controller: Live<Controller>,
  keySet: KeySet,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name, uid } = controller.metadata;
  const ref = { namespace, name: resourceName.slurmKeys(name) };
  const { name: userSecret = '', key = '' } = controller.spec.slurmKeyRef ?? {};
  const [current, user] = await Promise.all([
    client.find(secrets, ref, { signal }),
    client.find(secrets, { namespace, name: userSecret }, { signal }),
  ]);
  const text = user?.data?.[key] ?? '';
  const known = new Map([
    ...keysIn(current?.data?.[keyFile.slurmKeys]),
    [kidOf(hash('sha256', text)), encoded(text)],
  ]);
  const set = jwks(keySet, known);
  const inForce = parseKeySet(current?.metadata.annotations?.[annotation.slurmKeys])?.keys ?? [];
  if (keySet.keys.some((digest) => inForce.includes(digest) && !known.has(kidOf(digest))))
    throw new Error(
      `Secret ${ref.name} has lost a key that daemons use: restore it from a backup, or delete it while no job runs, and all daemons start with the key of Secret ${userSecret}`,
    );
  if (set === undefined) return;
  if (keySet.keys.some((digest) => known.get(kidOf(digest)) === ''))
    throw new Error(
      `key "${key}" of Secret ${userSecret} is empty: put a key of at least 32 random bytes into it`,
    );
  const value = Buffer.from(set).toString('base64');
  const names = [daemonHash(keySet), loginHash(keySet)].map(keySetFile);
  // What pods of earlier sets name stays: their kubelets could not mount the volume otherwise.
  const kept = new Set([keyFile.slurmKeys, ...names, ...(keySet.before ?? []).map(keySetFile)]);
  const data: Record<string, string | null> = Object.fromEntries(
    Object.keys(current?.data ?? {}).flatMap((file) => (kept.has(file) ? [] : [[file, null]])),
  );
  data[keyFile.slurmKeys] = value;
  // A file that is named by its digest is written once.
  for (const file of names) if (current?.data?.[file] === undefined) data[file] = value;
  const annotations = { [annotation.slurmKeys]: formatKeySet(keySet) };
  try {
    if (current === undefined)
      await client.create(
        secrets,
        draftOf(secrets, {
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
          data,
        }),
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

function encoded(text: string): string {
  const key = Buffer.from(text, 'base64');
  if (key.length === 0) return '';
  const padded = key.length < shortest ? Buffer.concat([key, Buffer.alloc(shortest - key.length)]) : key;
  return padded.toString('base64url');
}

/** The file of a set; undefined while one of its keys is not known. The workers' script reads the name of the set. */
function jwks(keySet: KeySet, known: ReadonlyMap<string, string>): string | undefined {
  const keys = keySet.keys.map((digest) => ({ kid: kidOf(digest), k: known.get(kidOf(digest)) }));
  if (keys.some(({ k }) => k === undefined)) return undefined;
  return JSON.stringify({
    set: daemonHash(keySet),
    keys: keys.map(({ kid, k }) => ({
      alg: 'HS256',
      kty: 'oct',
      kid,
      k,
      ...(kid === kidOf(keySet.signing) ? { use: 'default' } : {}),
    })),
  });
}

/** kid → key, of a file that was written here. */
function keysIn(data: string | undefined): Map<string, string> {
  if (data === undefined) return new Map();
  try {
    const { keys } = JSON.parse(Buffer.from(data, 'base64').toString()) as {
      readonly keys: readonly { readonly kid: string; readonly k: string }[];
    };
    return new Map(keys.map(({ kid, k }) => [kid, k]));
  } catch {
    // Something else wrote it. With the user's key it is written again, or the other keys are gone.
    return new Map();
  }
}
