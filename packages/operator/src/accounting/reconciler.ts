/** The Accounting controller: slurmdbd on a database. */
import type { Accounting } from '@slurm-operator/api';
import {
  type Live,
  type Manager,
  type ReconcileContext,
  type Request,
  type Result,
  secrets,
  services,
  statefulSets,
} from '@slurm-operator/kube';
import {
  buildAccountingSecret,
  buildAccountingService,
  buildAccountingStatefulSet,
} from '../builders/accounting/accounting.ts';
import { buildSlurmdbdConf } from '../builders/accounting/slurmdbd-conf.ts';
import { digestOf } from '../builders/digest.ts';
import { jwtKeyOf } from '../builders/key-sources.ts';
import type { Surroundings } from '../builders/surroundings.ts';
import { type Digests, digestBehind, digestsOf, refTroubles } from '../key-troubles.ts';
import { accountings } from '../resources.ts';
import type { RenderedConf } from '../slurm-conf/conf-file.ts';
import { UnsafeValueError } from '../slurm-conf/errors.ts';
import type { Trouble } from '../status/judge.ts';
import { podsOf } from '../status/pods.ts';
import { writeStatus } from '../status/write-status.ts';
import { Steps } from '../steps.ts';
import { externalVerdicts, ownVerdicts, slurmsAnswers } from './status.ts';

type Needs = Pick<Manager, 'cache' | 'client' | 'owned' | 'recorder'>;

export class AccountingReconciler {
  readonly #manager: Needs;
  readonly #around: Surroundings;

  constructor(manager: Needs, around: Surroundings) {
    this.#manager = manager;
    this.#around = around;
  }

  readonly reconcile = async (request: Request, context: ReconcileContext): Promise<Result | void> => {
    const { cache, client } = this.#manager;
    const accounting = cache.get(accountings, request);
    if (accounting === undefined || accounting.metadata.deletionTimestamp !== undefined) return;
    const steps = new Steps(accounting, this.#manager.recorder, context.signal);
    const troubles = accounting.spec.external ? [] : await this.#run(accounting, steps, context);

    const after = cache.get(accountings, request);
    if (after === undefined) return;
    const { namespace, name } = accounting.metadata;
    const found = podsOf(cache, 'accounting', namespace, name);
    const all = [...troubles, ...steps.failures];
    const answers = slurmsAnswers(cache, namespace, name);
    await writeStatus(
      accountings,
      after,
      {},
      accounting.spec.external
        ? externalVerdicts(accounting, answers)
        : ownVerdicts(accounting, all, found, answers),
      client,
      context,
    );
    steps.throwFailures();
  };

  async #run(accounting: Live<Accounting>, steps: Steps, { signal }: ReconcileContext): Promise<Trouble[]> {
    const { cache, owned } = this.#manager;
    const owner = accounting as unknown as Live;
    const { namespace } = accounting.metadata;
    const { spec } = accounting;
    const password = spec.storageConfig?.passwordKeyRef;
    const names = [spec.slurmKeyRef, jwtKeyOf(spec), password].flatMap((ref) =>
      ref === undefined ? [] : [ref.name],
    );
    const known: Digests[] = [...new Set(names)].map((one) => digestsOf(cache, 'Secret', namespace, one));
    const troubles = [
      ...refTroubles('Secret', 'slurmKeyRef', spec.slurmKeyRef, known, namespace),
      ...refTroubles('Secret', 'jwtKeyRef', jwtKeyOf(spec), known, namespace),
      ...refTroubles('Secret', 'storageConfig.passwordKeyRef', password, known, namespace),
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
      hashes: {
        slurmKey: digestBehind(known, spec.slurmKeyRef),
        jwtKey: digestBehind(known, jwtKeyOf(spec)),
        slurmdbdConf: digestOf(conf.text),
      },
    });
    await steps.run(`StatefulSet ${set.metadata.name}`, () =>
      owned.apply(statefulSets, owner, set, { signal }),
    );
    return troubles;
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
