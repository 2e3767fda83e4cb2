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
import type { ReviewedKind } from './configurations.ts';
import { gatherFacts } from './gather-facts.ts';
import { warnOfChange, warnOfScale } from './warn-of-change.ts';

type Reviewed = KubeObject & { readonly spec?: unknown };

export interface ValidatorOptions {
  readonly client: Client;
  /** Where we may look; objects elsewhere are admitted unseen. Absent: everywhere. */
  readonly namespaces?: ReadonlySet<string> | undefined;
}

export function validatorOf(kind: ReviewedKind, options: ValidatorOptions): Validator<Reviewed> {
  const check = specRules[kind] as (object: unknown, facts: SpecFacts) => readonly Finding[];
  return async (request, signal) => {
    const { object, namespace = '' } = request;
    if (object === undefined || !isNews(request)) return allow();
    if (options.namespaces?.has(namespace) === false) return allow();
    // A Scale is no NodeSet: only what it does to workers is said.
    if (request.subResource === 'scale')
      return allow(...(await warnOfScale(request, options.client, signal)));
    const [facts, changes] = await Promise.all([
      gatherFacts(kind, object, options.client, { namespace, signal }),
      kind === 'NodeSet' ? warnOfChange(request, options.client, signal) : [],
    ]);
    const findings = check(object, facts);
    const errors = findings.filter(({ severity }) => severity === 'error').map(({ message }) => message);
    const warnings = findings.filter(({ severity }) => severity !== 'error').map(({ message }) => message);
    return errors.length === 0 ? allow(...warnings, ...changes) : deny(errors.join('; '), ...warnings);
  };
}

/**
 * Only changes of the spec are validated. An object that is being deleted must be able to lose its finalizers, and a change of a label
 * must not fail because of a ConfigMap that is missing since.
 */
function isNews({ operation, object, oldObject }: AdmissionRequest<Reviewed>): boolean {
  if (operation === 'CREATE') return true;
  if (operation !== 'UPDATE' || object?.metadata.deletionTimestamp !== undefined) return false;
  return !isDeepStrictEqual(object?.spec, oldObject?.spec);
}
