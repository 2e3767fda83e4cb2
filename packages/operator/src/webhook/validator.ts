/** Turns the rules of a kind into an answer to an admission review. */
import { isDeepStrictEqual } from 'node:util';
import {
  type AdmissionRequest,
  allow,
  type Client,
  deny,
  type KubeObject,
  type Validator,
} from '@slurm-operator/kube';
import type { Finding, SpecFacts } from '../rules/findings.ts';
import { specRules } from '../rules/spec-rules.ts';
import type { ReviewedKind } from './endpoints.ts';
import { gatherFacts } from './gather-facts.ts';

type Reviewed = KubeObject & { readonly spec?: unknown };

export interface ValidatorOptions {
  readonly client: Client;
  /** Where we may look; objects elsewhere are admitted unseen. Absent: everywhere. */
  readonly namespaces?: ReadonlySet<string> | undefined;
}

export function validatorOf(kind: ReviewedKind, options: ValidatorOptions): Validator<Reviewed> {
  const judge = specRules[kind] as (object: unknown, facts: SpecFacts) => readonly Finding[];
  return async (request, signal) => {
    const { object, namespace = '' } = request;
    if (object === undefined || !isNews(request)) return allow();
    if (options.namespaces?.has(namespace) === false) return allow();
    const findings = judge(object, await gatherFacts(kind, object, options.client, { namespace, signal }));
    const errors = findings.filter(({ severity }) => severity === 'error').map(({ message }) => message);
    const warnings = findings.filter(({ severity }) => severity !== 'error').map(({ message }) => message);
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
