/** The Accounting controller: slurmdbd on a database. */
import { type Accounting, conditionType } from '@slurm-operator/api';
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
import { type Trouble, type Verdict, verdicts } from '../status/judge.ts';
import { type PodFacts, podsOf, podTroubles } from '../status/pods.ts';
import { writeStatus } from '../status/write-status.ts';
import { Steps } from '../steps.ts';

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
    await writeStatus(
      accountings,
      after,
      {},
      accounting.spec.external ? externalVerdicts(accounting) : ownVerdicts(accounting, all, found),
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

function externalVerdicts({ spec }: Live<Accounting>): Verdict[] {
  const place = `${spec.externalConfig?.host ?? ''}:${spec.externalConfig?.port ?? ''}`;
  return verdicts([], `slurmdbd runs elsewhere, at ${place}; nothing is started here.`).map((verdict) =>
    verdict.type === conditionType.ready ? { ...verdict, reason: 'External' } : verdict,
  );
}

function ownVerdicts(
  { metadata, spec }: Live<Accounting>,
  troubles: readonly Trouble[],
  found: readonly PodFacts[],
): Verdict[] {
  const place = `${spec.storageConfig?.host ?? ''}:${spec.storageConfig?.port ?? ''}`;
  const database = databaseVerdict(found, place);
  const pods = podTroubles(
    found,
    metadata.namespace,
    `slurmdbd does not answer yet; it may be waiting for the database at ${place}.`,
  );
  const all: Trouble[] = [
    ...troubles,
    ...(database.status === 'False' ? [{ reason: database.reason, message: database.message }] : []),
    ...pods,
  ];
  return [...verdicts(all, 'slurmdbd answers.'), database];
}

/** slurmdbd opens its port when it has its database, and says in its last words when it has not. */
function databaseVerdict(found: readonly PodFacts[], place: string): Verdict {
  const type = conditionType.databaseReachable;
  if (found.some((pod) => pod.ready))
    return { type, status: 'True', reason: 'Connected', message: `The database at ${place} answers.` };
  const words = found
    .map((pod) => pod.lastWords)
    .find((one) => one !== undefined && /mysql|database|storage/i.test(one));
  if (words === undefined)
    return {
      type,
      status: 'Unknown',
      reason: 'Starting',
      message: `Whether the database at ${place} answers is not known yet.`,
    };
  return /denied|1045/i.test(words)
    ? {
        type,
        status: 'False',
        reason: 'DatabaseRefused',
        message: `the database at ${place} refuses the user or the password: ${words}. Correct the Secret, or the user's rights.`,
      }
    : {
        type,
        status: 'False',
        reason: 'DatabaseUnreachable',
        message: `slurmdbd cannot use the database at ${place}: ${words}. Check that it runs and that the address is right.`,
      };
}
