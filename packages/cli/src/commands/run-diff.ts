/** diff: what manifests would change in objects and slurm.conf, and what that means for jobs. Changes nothing. */
import { apiVersion, type Controller, type NodeSet } from '@slurm-operator/api';
import { defineResource, type KubeObject, type Live } from '@slurm-operator/kube';
import {
  type ConfigChange,
  configFilesOf,
  previewConfig,
  type ReadObjects,
} from '@slurm-operator/operator/dry-run';
import { parseTimeLimit, type SlurmJob } from '@slurm-operator/slurm';
import { CliError, exitCode } from '../errors.ts';
import { readObjects, readSlurm, type SlurmLists } from '../gather/dry-run.ts';
import type { CommandLine } from '../line.ts';
import type { Session } from '../session/session.ts';
import { diffText } from './diff-view.ts';
import { type FieldChange, fieldChanges } from './field-changes.ts';
import { type Manifest, readManifests } from './manifests.ts';
import { planText } from './plan-view.ts';
import { planSets } from './run-plan.ts';
import { type TriedConfig, tryConfig } from './try-config.ts';

export interface ObjectChange {
  readonly kind: string;
  readonly name: string;
  readonly isNew: boolean;
  readonly fields: readonly FieldChange[];
}

/** Pending jobs that a changed limit of a partition would keep from starting, or let start. */
export interface LimitEffect {
  readonly partition: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Jobs that ask for more than the new limit and not more than the old one. */
  readonly tooLong: readonly number[];
  readonly running: number;
}

const plurals: Readonly<Record<string, string>> = {
  Accounting: 'accountings',
  Cluster: 'clusters',
  Controller: 'controllers',
  LoginSet: 'loginsets',
  NodeSet: 'nodesets',
  RestApi: 'restapis',
  Token: 'tokens',
};

interface Tried {
  readonly kind: string;
  readonly before: Live | undefined;
  readonly after: Live;
}

/** The server merges, sets defaults and asks the webhooks, as it would for the change itself. */
async function tryOut(session: Session, manifests: readonly Manifest[]): Promise<readonly Tried[]> {
  const client = await session.client();
  const namespace = await session.namespace();
  const tried: Tried[] = [];
  for (const { metadata, ...rest } of manifests) {
    const plural = plurals[rest.kind];
    if (rest.apiVersion !== apiVersion || plural === undefined) {
      session.note(`${rest.kind}/${metadata.name} is no object of slurm-operator: left out.`);
      continue;
    }
    const resource = defineResource<KubeObject>({ apiVersion, kind: rest.kind, plural, namespaced: true });
    const where = { ...metadata, namespace: metadata.namespace ?? namespace };
    const options = { signal: session.signal };
    const before = await client.find(resource, where, options);
    const after = await client.apply(
      resource,
      { ...rest, metadata: where },
      {
        ...options,
        dryRun: true,
      },
    );
    tried.push({ kind: rest.kind, before, after });
  }
  return tried;
}

export async function runDiff(session: Session, line: CommandLine): Promise<number> {
  const file = line.text('filename');
  if (file === undefined)
    throw new CliError('Give the changed manifests: -f FILE, or -f - for standard input.');
  const tried = await tryOut(session, await readManifests(session, file));
  const changes = tried.map(
    ({ kind, before, after }): ObjectChange => ({
      kind,
      name: after.metadata.name,
      isNew: before === undefined,
      fields: before === undefined ? [] : fieldChanges(before, after),
    }),
  );
  const changed = changes.filter(({ isNew, fields }) => isNew || fields.length > 0);
  const [{ objects, forbidden }, slurm] = await Promise.all([
    readObjects(session, (controllers) => configFiles(tried, controllers)),
    readSlurm(session),
  ]);
  const unread = forbidden.some((plural) => ['accountings', 'controllers', 'nodesets'].includes(plural));
  // Lines of objects that may not be read would look as if they were removed.
  const compared = unread ? undefined : comparison(tried, objects);
  const config = compared === undefined ? undefined : previewConfig({ ...compared, slurm });
  const limits = config === undefined ? [] : limitEffects(config.maxTimes, slurm);
  const sets = tried.flatMap(({ kind, before, after }) =>
    kind === 'NodeSet' && before !== undefined
      ? [{ before: before as Live<NodeSet>, after: after as Live<NodeSet> }]
      : [],
  );
  const plans = sets.length === 0 ? [] : await planSets(session, sets);
  const trial = line.has('try') ? await trialOf(session, compared, config) : undefined;
  const data = { objects: changed, config, limits, forbidden, ...(trial === undefined ? {} : { trial }) };
  const names = changed.map(({ kind, name }) => `${kind.toLowerCase()}/${name}`);
  if (!session.printObject('Diff', data, names)) {
    session.io.out(diffText({ ...data, slurm }, session));
    for (const plan of plans) session.io.out(`\n${planText(plan, session)}`);
  }
  return changed.length > 0 || config?.before !== config?.after ? exitCode.findings : exitCode.good;
}

/** Undefined where there is nothing to try. */
async function trialOf(
  session: Session,
  compared: Comparison | undefined,
  config: ConfigChange | undefined,
): Promise<TriedConfig | undefined> {
  if (compared === undefined || config?.after === undefined || config.before === config.after) {
    session.note('slurm.conf stays the same or cannot be compared: nothing to try.');
    return undefined;
  }
  return tryConfig(session, { controller: compared.controller.after, objects: compared.objects.after });
}

/** ConfigMaps with files of the configuration that the Controllers name. */
const configFiles = (tried: readonly Tried[], controllers: readonly Live<Controller>[]): readonly string[] =>
  [
    ...controllers,
    ...tried.flatMap(({ kind, after }) => (kind === 'Controller' ? [after as Live<Controller>] : [])),
  ].flatMap((one) => configFilesOf(one));

interface Comparison {
  readonly controller: { readonly before: Live<Controller>; readonly after: Live<Controller> };
  readonly objects: { readonly before: ReadObjects; readonly after: ReadObjects };
}

/** The first Controller that the change concerns, before and after it. */
function comparison(tried: readonly Tried[], before: ReadObjects): Comparison | undefined {
  const after = { ...before };
  for (const { kind, before: old, after: object } of tried) {
    const plural = plurals[kind] ?? '';
    const others = (after[plural] ?? []).filter(({ metadata }) => metadata.name !== object.metadata.name);
    // A dry run may answer without the status.
    const kept = old === undefined ? object : ({ ...object, status: statusOf(old) } as Live);
    after[plural] = [...others, kept];
  }
  const names = new Set(
    tried.flatMap(({ kind, after: object }) =>
      kind === 'Controller'
        ? object.metadata.name
        : kind === 'NodeSet'
          ? ((object as Live<NodeSet>).spec.controllerRef.name ?? [])
          : [],
    ),
  );
  const find = (objects: ReadObjects, name: string) =>
    (objects['controllers'] ?? []).find(({ metadata }) => metadata.name === name) as
      | Live<Controller>
      | undefined;
  for (const name of names) {
    const [was, is] = [find(before, name), find(after, name)];
    if (was !== undefined && is !== undefined)
      return { controller: { before: was, after: is }, objects: { before, after } };
  }
  return undefined;
}

const statusOf = (object: object): unknown => (object as { readonly status?: unknown }).status;

/** Minutes; Infinity for no limit. */
function minutes(text: string | undefined): number {
  if (text === undefined || /^(unlimited|infinite|-1)$/i.test(text)) return Number.POSITIVE_INFINITY;
  const limit = parseTimeLimit(text);
  return limit === 'infinite' ? Number.POSITIVE_INFINITY : limit;
}

export function limitEffects(changes: ConfigChange['maxTimes'], slurm: SlurmLists): readonly LimitEffect[] {
  const jobs = slurm.kind === 'known' ? slurm.jobs : [];
  const asks = (job: SlurmJob) =>
    job.timeLimit === 'infinite' ? Number.POSITIVE_INFINITY : (job.timeLimit ?? 0);
  return changes.map(({ partition, from, to }) => {
    const inside = jobs.filter((job) => job.partition.split(',').includes(partition));
    const [old, limit] = [minutes(from), minutes(to)];
    return {
      partition,
      from,
      to,
      tooLong: inside
        .filter((job) => job.state.includes('PENDING') && asks(job) > limit && asks(job) <= old)
        .map(({ id }) => id),
      running: inside.filter((job) => job.state.includes('RUNNING') && asks(job) > limit).length,
    };
  });
}
