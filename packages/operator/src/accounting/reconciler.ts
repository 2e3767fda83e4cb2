/** The Accounting controller: slurmdbd on a database. */
import { type Accounting, annotation } from '@slurm-operator/api';
import { type Live, type ReconcileContext, type Request, secrets, services } from '@slurm-operator/kube';
import {
  buildAccountingSecret,
  buildAccountingService,
  buildAccountingStatefulSet,
} from '../builders/accounting/accounting.ts';
import { buildSlurmdbdConf } from '../builders/accounting/slurmdbd-conf.ts';
import { digestOf } from '../builders/digest.ts';
import { jwtKeyOf } from '../builders/key-sources.ts';
import type { Surroundings } from '../builders/surroundings.ts';
import { type Digests, digestBehind, digestsOf, refTroubles } from '../cache/references.ts';
import { accountings } from '../cache/resources.ts';
import { keysVerdict } from '../keys/keys-verdict.ts';
import { applyStatefulSet } from '../reconcile/apply-stateful-set.ts';
import { type ReconcilerNeeds, reconcileObject } from '../reconcile/reconcile-object.ts';
import type { Steps } from '../reconcile/steps.ts';
import { cachedFacts } from '../rules/cached-facts.ts';
import { specTroubles } from '../rules/findings.ts';
import { specRules } from '../rules/spec-rules.ts';
import type { RenderedConf } from '../slurm-conf/conf-file.ts';
import { UnsafeValueError } from '../slurm-conf/errors.ts';
import type { Trouble } from '../status/judge.ts';
import { podsOf } from '../status/pods.ts';
import { externalVerdicts, ownVerdicts, slurmsAnswers } from './status.ts';

export class AccountingReconciler {
  readonly #manager: ReconcilerNeeds;
  readonly #around: Surroundings;

  constructor(manager: ReconcilerNeeds, around: Surroundings) {
    this.#manager = manager;
    this.#around = around;
  }

  readonly reconcile = async (request: Request, context: ReconcileContext): Promise<void> => {
    await reconcileObject(this.#manager, accountings, request, context, {
      act: (accounting, steps) =>
        accounting.spec.external ? Promise.resolve([]) : this.#run(accounting, steps, context),
      report: (accounting, troubles, failures) => {
        const { cache } = this.#manager;
        const { namespace, name } = accounting.metadata;
        const answers = slurmsAnswers(cache, namespace, name);
        if (accounting.spec.external) return { verdicts: externalVerdicts(accounting, answers) };
        const found = podsOf(cache, 'accounting', namespace, name);
        const inSpec = specTroubles(
          specRules.Accounting(accounting, cachedFacts(cache, accounting.metadata)),
        );
        return {
          verdicts: [
            ...ownVerdicts(accounting, [...troubles, ...failures, ...inSpec], found, answers),
            keysVerdict(found, this.#wanted(accounting)),
          ],
        };
      },
    });
  };

  async #run(accounting: Live<Accounting>, steps: Steps, { signal }: ReconcileContext): Promise<Trouble[]> {
    const { owned } = this.#manager;
    const owner = accounting as unknown as Live;
    const { namespace } = accounting.metadata;
    const { spec } = accounting;
    const password = spec.storageConfig?.passwordKeyRef;
    const { secrets: known, jwks } = this.#digests(accounting);
    const troubles = [
      ...refTroubles('Secret', 'slurmKeyRef', spec.slurmKeyRef, known, namespace),
      ...refTroubles('Secret', 'jwtKeyRef', jwtKeyOf(spec), known, namespace),
      ...refTroubles('Secret', 'storageConfig.passwordKeyRef', password, known, namespace),
      ...refTroubles('ConfigMap', 'jwksKeyRef', spec.jwksKeyRef, jwks, namespace),
    ];
    const service = buildAccountingService(accounting);
    await steps.run(`Service ${service.metadata.name}`, () =>
      owned.apply(services, owner, service, { signal }),
    );
    const conf = troubles.length > 0 ? undefined : await this.#conf(accounting, troubles, signal);
    if (conf === undefined) return troubles;
    for (const message of conf.complaints) troubles.push({ reason: 'InvalidSpec', message });
    const secret = buildAccountingSecret(accounting, conf.text);
    const configured = await steps.run(`Secret ${secret.metadata.name}`, () =>
      owned.apply(secrets, owner, secret, { signal }),
    );
    if (!configured) return troubles;
    const set = buildAccountingStatefulSet({
      accounting,
      around: this.#around,
      hashes: { ...this.#keys(accounting), slurmdbdConf: digestOf(conf.text) },
    });
    await steps.run(`StatefulSet ${set.metadata.name}`, () =>
      applyStatefulSet(this.#manager, owner, set, signal),
    );
    return troubles;
  }

  /** What is known of everything that the Accounting refers to. */
  #digests({ metadata: { namespace }, spec }: Live<Accounting>): {
    readonly secrets: readonly Digests[];
    readonly jwks: readonly Digests[];
  } {
    const { cache } = this.#manager;
    const refs = [spec.slurmKeyRef, jwtKeyOf(spec), spec.storageConfig?.passwordKeyRef];
    const names = new Set(refs.flatMap((ref) => (ref === undefined ? [] : [ref.name])));
    return {
      secrets: [...names].map((one) => digestsOf(cache, 'Secret', namespace, one)),
      jwks:
        spec.jwksKeyRef === undefined ? [] : [digestsOf(cache, 'ConfigMap', namespace, spec.jwksKeyRef.name)],
    };
  }

  #wanted(accounting: Live<Accounting>): Record<string, string> {
    const { slurmKey, jwtKey } = this.#keys(accounting);
    return { [annotation.slurmKeyHash]: slurmKey, [annotation.jwtKeyHash]: jwtKey };
  }

  /** slurmdbd reads its keys once: another digest starts it anew. */
  #keys(accounting: Live<Accounting>): { readonly slurmKey: string; readonly jwtKey: string } {
    const { secrets: known, jwks } = this.#digests(accounting);
    const { spec } = accounting;
    const jwt = digestBehind(known, jwtKeyOf(spec));
    return {
      slurmKey: digestBehind(known, spec.slurmKeyRef),
      // Without public keys it stays as it always was, so that no slurmdbd is restarted for nothing.
      jwtKey: spec.jwksKeyRef === undefined ? jwt : digestOf([jwt, digestBehind(jwks, spec.jwksKeyRef)]),
    };
  }

  /** The password is read from the API server, put into the file, and forgotten. */
  async #conf(
    accounting: Live<Accounting>,
    troubles: Trouble[],
    signal: AbortSignal,
  ): Promise<RenderedConf | undefined> {
    const { namespace } = accounting.metadata;
    const { name = '', key = '' } = accounting.spec.storageConfig?.passwordKeyRef ?? {};
    const secret = await this.#manager.client.get(secrets, { namespace, name }, { signal });
    const password = Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
    try {
      return buildSlurmdbdConf(accounting, password);
    } catch (error) {
      if (!(error instanceof UnsafeValueError)) throw error;
      troubles.push({ reason: 'InvalidSpec', message: error.message });
      return undefined;
    }
  }
}
