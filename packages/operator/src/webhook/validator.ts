/** Turns the rules of a kind into an answer to an admission review. */
import { isDeepStrictEqual } from 'node:util';
import {
  type AdmissionRequest,
  allow,
  type Client,
  configMaps,
  deny,
  type KubeObject,
  persistentVolumeClaims,
  type Validator,
} from '@slurm-operator/kube';
import { controllers, nodeSets } from '../cache/resources.ts';
import type { ReviewedKind } from './endpoints.ts';
import type { Findings, Surroundings } from './review.ts';
import { rules, workerOf } from './rules.ts';

type Reviewed = KubeObject & { readonly spec?: unknown };

export interface ValidatorOptions {
  readonly client: Client;
  /** Where we may look; objects elsewhere are admitted unseen. Absent: everywhere. */
  readonly namespaces?: ReadonlySet<string> | undefined;
}

export function validatorOf(kind: ReviewedKind, options: ValidatorOptions): Validator<Reviewed> {
  const judge = rules[kind] as (object: unknown, around: Surroundings) => Promise<Findings>;
  return async (request, signal) => {
    const { object, namespace = '' } = request;
    if (object === undefined || !isNews(request)) return allow();
    if (options.namespaces?.has(namespace) === false) return allow();
    const { errors, warnings } = await judge(object, surroundings(options.client, namespace, signal));
    return errors.length === 0 ? allow(...warnings) : deny(errors.join('; '), ...warnings);
  };
}

/**
 * Only what a person decides anew is judged. An object on its way out must be able to lose its finalizers, and a label
 * must not fail because of a ConfigMap that went missing since.
 */
function isNews({ operation, object, oldObject }: AdmissionRequest<Reviewed>): boolean {
  if (operation === 'CREATE') return true;
  if (operation !== 'UPDATE' || object?.metadata.deletionTimestamp !== undefined) return false;
  return !isDeepStrictEqual(object?.spec, oldObject?.spec);
}

function surroundings(client: Client, namespace: string, signal: AbortSignal): Surroundings {
  return {
    async configMapKeys(name) {
      const map = await client.find(configMaps, { namespace, name }, { signal });
      return map && [...Object.keys(map.data ?? {}), ...Object.keys(map.binaryData ?? {})];
    },
    async claimModes(name) {
      const claim = await client.find(persistentVolumeClaims, { namespace, name }, { signal });
      return claim && (claim.spec?.accessModes ?? []);
    },
    async hasController(name) {
      return (await client.find(controllers, { namespace, name }, { signal })) !== undefined;
    },
    async nodeSets() {
      const { items } = await client.list(nodeSets, { namespace, signal });
      return items.map(workerOf);
    },
  };
}
