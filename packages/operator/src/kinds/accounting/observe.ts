/** What the plan and the status of an Accounting are made from. Reads, and changes nothing. */
import type { Accounting } from '@slurm-operator/api';
import {
  type Cache,
  type Client,
  type Condition,
  type Live,
  type StatefulSet,
  secrets,
  statefulSets,
} from '@slurm-operator/kube';
import { type Digests, digestsOf, refProblems } from '../../cache/references.ts';
import { Sensitive } from '../../framework/actions.ts';
import { refusedPods } from '../../framework/refused-pods.ts';
import type { Problem } from '../../framework/status/conditions.ts';
import { type PodFacts, podsOf } from '../../framework/status/pods.ts';
import { keysOfAccounting } from '../../keys/slurm-key.ts';
import { jwtKeyOf } from '../../objects/key-sources.ts';
import { cachedFacts, problemsIn } from '../../rules/findings.ts';
import { specRules } from '../../rules/spec-rules.ts';
import { buildAccountingService } from './objects/accounting.ts';
import { slurmsAnswers } from './status.ts';

export interface ObservedAccounting {
  readonly accounting: Live<Accounting>;
  readonly secrets: readonly Digests[];
  readonly jwks: readonly Digests[];
  /** Of the Controller that uses it with the same slurm.key. */
  readonly controllerKeys?: { readonly controller: string; readonly digest: string } | undefined;
  /** References to Secrets and ConfigMaps that do not exist, or lack the key. */
  readonly missingRefs: readonly Problem[];
  /** Read from the API server, because caches hold digests only; absent while a reference is missing. */
  readonly password: Sensitive<string> | undefined;
  readonly statefulSet: Live<StatefulSet> | undefined;
  readonly pods: readonly PodFacts[];
  readonly answers: readonly Condition[];
  readonly specProblems: readonly Problem[];
  /** Why slurmdbd's pod cannot be created. */
  readonly refusedPod?: Problem | undefined;
}

export async function observeAccounting(
  { cache, client }: { readonly cache: Cache; readonly client: Client },
  accounting: Live<Accounting>,
  signal: AbortSignal,
): Promise<ObservedAccounting> {
  const { spec } = accounting;
  const { namespace, name } = accounting.metadata;
  const passwordRef = spec.storageConfig?.passwordKeyRef;
  const refs = [spec.slurmKeyRef, jwtKeyOf(spec), passwordRef];
  const names = new Set(refs.flatMap((ref) => (ref === undefined ? [] : [ref.name])));
  const known = [...names].map((one) => digestsOf(cache, 'Secret', namespace, one));
  const jwks =
    spec.jwksKeyRef === undefined ? [] : [digestsOf(cache, 'ConfigMap', namespace, spec.jwksKeyRef.name)];
  const missingRefs = [
    ...refProblems('Secret', 'slurmKeyRef', spec.slurmKeyRef, known, namespace),
    ...refProblems('Secret', 'jwtKeyRef', jwtKeyOf(spec), known, namespace),
    ...refProblems('Secret', 'storageConfig.passwordKeyRef', passwordRef, known, namespace),
    ...refProblems('ConfigMap', 'jwksKeyRef', spec.jwksKeyRef, jwks, namespace),
  ];
  const set = buildAccountingService(accounting).metadata;
  const isReadable = !spec.external && missingRefs.length === 0;
  return {
    accounting,
    secrets: known,
    jwks,
    controllerKeys: keysOfAccounting(cache, accounting),
    missingRefs,
    password: isReadable ? await readPassword(client, namespace, passwordRef, signal) : undefined,
    statefulSet: cache.get(statefulSets, set),
    pods: podsOf(cache, 'accounting', namespace, name),
    answers: slurmsAnswers(cache, namespace, name),
    specProblems: problemsIn(specRules.Accounting(accounting, cachedFacts(cache, accounting.metadata))),
    refusedPod: await refusedPods({ cache, client }, { namespace, name: set.name }, signal),
  };
}

async function readPassword(
  client: Client,
  namespace: string,
  ref: { readonly name: string; readonly key: string } | undefined,
  signal: AbortSignal,
): Promise<Sensitive<string>> {
  const secret = await client.get(secrets, { namespace, name: ref?.name ?? '' }, { signal });
  return new Sensitive(Buffer.from(secret.data?.[ref?.key ?? ''] ?? '', 'base64').toString('utf8'));
}
