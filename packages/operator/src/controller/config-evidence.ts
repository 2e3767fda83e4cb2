/** Reads the configuration in force, and asks Slurm where a change of it could cost a job. */
import { hash } from 'node:crypto';
import { resourceName } from '@slurm-operator/api';
import { type Cache, type Client, configMaps } from '@slurm-operator/kube';
import { nodeSetsAnnotation } from '../builders/controller/config-map.ts';
import { readConf } from '../config-guard/conf-content.ts';
import { needsSlurm } from '../config-guard/guard-config.ts';
import type { SlurmSurvey, SlurmWork } from '../config-guard/slurm-work.ts';
import type { ConfigEvidence, Owners } from './config-hold.ts';

/** Nothing is in force, so nothing can be lost. */
export const noEvidence: ConfigEvidence = {
  inForce: undefined,
  slurm: { kind: 'unknown', why: 'it was not asked' },
};

export interface EvidenceInput {
  readonly cache: Cache;
  readonly client: Client;
  readonly survey: SlurmSurvey;
  readonly controller: { readonly namespace: string; readonly name: string };
  readonly desired: string;
  readonly signal: AbortSignal;
}

export async function gatherEvidence(input: EvidenceInput): Promise<ConfigEvidence> {
  const { cache, client, controller, desired, signal } = input;
  const map = { namespace: controller.namespace, name: resourceName.config(controller.name) };
  const cached = cache.get(configMaps, map);
  // The cache holds digests: most of the time they say that nothing changes, and nobody is asked.
  if (cached?.data?.['slurm.conf'] === hash('sha256', desired))
    return { ...noEvidence, inForce: { text: desired, owners: ownersIn(cached.metadata.annotations) } };
  const stored = await client.find(configMaps, map, { signal });
  const text = stored?.data?.['slurm.conf'];
  if (text === undefined) return noEvidence;
  return {
    inForce: { text, owners: ownersIn(stored?.metadata.annotations) },
    slurm: await askSlurm(input, text),
  };
}

/** A change that takes nothing away is put in force also while Slurm does not answer: it may be what mends it. */
async function askSlurm(
  { survey, controller, desired, signal }: EvidenceInput,
  inForce: string,
): Promise<SlurmWork> {
  const { namespace, name } = controller;
  if (needsSlurm(inForce, desired)) return survey.work(namespace, name, signal);
  const known = new Set([inForce, desired].flatMap((text) => [...readConf(text).partitions.keys()]));
  const partitions = await survey.partitions(namespace, name, signal);
  const all = [...(partitions ?? [])].every((partition) => known.has(partition));
  return all ? noEvidence.slurm : survey.work(namespace, name, signal);
}

/** An annotation that cannot be read says nothing of owners. */
function ownersIn(annotations: Readonly<Record<string, string>> | undefined): Owners {
  try {
    return JSON.parse(annotations?.[nodeSetsAnnotation] ?? '{}') as Owners;
  } catch {
    return {};
  }
}
