/** Reads from the API server what the rules of a kind look at, and nothing else; never from a cache. */
import type { Controller } from '@slurm-operator/api';
import {
  type Client,
  configMaps,
  type DeepReadonly,
  type KubeObject,
  persistentVolumeClaims,
} from '@slurm-operator/kube';
import { controllers, nodeSets } from '../cache/resources.ts';
import type { SpecFacts } from '../rules/findings.ts';
import { workerNames } from '../rules/spec-rules.ts';
import type { ReviewedKind } from './configurations.ts';

export async function gatherFacts(
  kind: ReviewedKind,
  object: DeepReadonly<KubeObject>,
  client: Client,
  { namespace, signal }: { readonly namespace: string; readonly signal: AbortSignal },
): Promise<SpecFacts> {
  const spec = ((object as { spec?: unknown }).spec ?? {}) as Partial<Controller['spec']> & {
    readonly controllerRef?: { readonly name?: string };
  };
  const maps = kind === 'Controller' ? (spec.configFileRefs ?? []).map(({ name }) => name) : [];
  const claim = kind === 'Controller' && spec.ha?.enabled === true ? spec.persistence?.existingClaim : '';
  const controller = spec.controllerRef?.name;
  const [keys, modes, hasController, sets] = await Promise.all([
    Promise.all(
      [...new Set(maps)].map(async (name) => {
        const map = await client.find(configMaps, { namespace, name }, { signal });
        return [name, map && [...Object.keys(map.data ?? {}), ...Object.keys(map.binaryData ?? {})]] as const;
      }),
    ),
    claim ? client.find(persistentVolumeClaims, { namespace, name: claim }, { signal }) : undefined,
    controller ? client.find(controllers, { namespace, name: controller }, { signal }) : undefined,
    kind === 'NodeSet' ? client.list(nodeSets, { namespace, signal }) : undefined,
  ]);
  const keysOf = new Map(keys);
  return {
    configMapKeys: (name) => keysOf.get(name),
    claimModes: () => modes && (modes.spec?.accessModes ?? []),
    hasController: () => hasController !== undefined,
    nodeSets: () => (sets?.items ?? []).map(workerNames),
  };
}
