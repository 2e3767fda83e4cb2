/** Gathers evidence for the rules: every piece apart, so that one that fails costs only its own rules. */
import {
  type Evidence,
  type EvidenceName,
  type EvidenceSet,
  forbidden,
  known,
  unknown,
  type Values,
} from '@slurm-operator/advice';
import {
  type Client,
  customResourceDefinitions,
  events,
  ForbiddenError,
  type KubeObject,
  leases,
  namespaces,
  nodes,
  persistentVolumeClaims,
  pods,
  type Resource,
} from '@slurm-operator/kube';
import { Forbidden, type SlurmClient } from '@slurm-operator/slurm';
import { NoTokenError, toExit } from '../errors.ts';
import { deploymentsOf } from '../session/installation.ts';
import {
  accountings,
  clusters,
  controllers,
  loginSets,
  networkPolicies,
  nodeSets,
  restApis,
  storageClasses,
  tokens,
} from '../session/resources.ts';
import type { Session } from '../session/session.ts';
import { gatherLogs } from './logs.ts';
import { probeWebhook } from './webhook.ts';

export interface GatherOptions {
  /** Also what is not about one cluster: CRDs, the operator, the webhook. */
  readonly installation: boolean;
  readonly logs: boolean;
  /** A job that slurmctld may have forgotten. */
  readonly job?: number;
}

export async function gatherEvidence(session: Session, options: GatherOptions): Promise<EvidenceSet> {
  const client = await session.client();
  const namespace = await session.namespace();
  const { signal, io } = session;
  const look = async <T>(verb: string, resource: string, read: () => Promise<T>): Promise<Evidence<T>> => {
    try {
      return known(await read(), io.now());
    } catch (error) {
      if (error instanceof ForbiddenError) return forbidden(verb, resource);
      if (error instanceof NoTokenError) return forbidden('ask', 'Slurm', error.message);
      return unknown(toExit(error).message);
    }
  };
  const list = <T extends KubeObject>(
    resource: Resource<T>,
    where: { namespace?: string; labelSelector?: string } = { namespace },
  ) => look('list', resource.plural, async () => (await client.list(resource, { ...where, signal })).items);
  const everywhere = {};
  const tasks: { [Name in EvidenceName]?: Promise<Evidence<unknown>> } = {
    controllers: list(controllers),
    clusters: list(clusters),
    nodeSets: list(nodeSets),
    loginSets: list(loginSets),
    accountings: list(accountings),
    restApis: list(restApis),
    tokens: list(tokens),
    pods: list(pods),
    events: list(events),
    claims: list(persistentVolumeClaims),
    networkPolicies: list(networkPolicies),
    machines: list(nodes, everywhere),
    storageClasses: list(storageClasses, everywhere),
    namespace: look('get', 'namespaces', () => client.get(namespaces, { name: namespace }, { signal })),
    operators: look('list', 'deployments', () => deploymentsOf(client, 'operator', signal)),
    ...(options.installation ? installation(session, client, namespace, look) : {}),
    ...slurmEvidence(session, look, options.job),
  };
  const found = Object.fromEntries(
    await Promise.all(Object.entries(tasks).map(async ([name, task]) => [name, await task] as const)),
  ) as { -readonly [Name in EvidenceName]?: Evidence<Values[Name]> };
  if (options.logs && found.pods?.kind === 'known')
    found.logs = await gatherLogs(client, found.pods.value, signal, io.now());
  // All users of a site may be many: they are read only where a job waits for one.
  if (found.jobs?.kind === 'known' && found.associations === undefined)
    found.associations = found.jobs.value.some(({ stateReason }) => /InvalidAccount|Assoc/i.test(stateReason))
      ? await associationsOf(session, look)
      : known([], io.now());
  found.permissions = known(permissionsOf(found), io.now());
  return found;
}

/** What the reads of this run showed. The probe of the webhook is for those who may create Tokens, which no role for readers allows. */
const permissionsOf = (found: EvidenceSet): Values['permissions'] =>
  Object.entries(found).flatMap(([name, piece]) =>
    name !== 'webhook' && piece.kind === 'forbidden' && piece.why === undefined
      ? [{ verb: piece.verb, resource: piece.resource, allowed: false }]
      : [],
  );

/** The lease of the operator that leads, where operators run: elsewhere every node of Kubernetes has one. */
export async function operatorLease(client: Client, signal: AbortSignal): Promise<Values['lease']> {
  const operators = await deploymentsOf(client, 'operator', signal);
  const places = [...new Set(operators.flatMap(({ metadata }) => metadata.namespace ?? []))];
  const lists = await Promise.all(
    places.map(async (namespace) => (await client.list(leases, { namespace, signal })).items),
  );
  return lists
    .flat()
    .filter(({ metadata }) => /slurm-operator|slinky/.test(metadata.name))
    .toSorted((a, b) => ((a.spec?.renewTime ?? '') < (b.spec?.renewTime ?? '') ? 1 : -1))
    .at(0);
}

type Look = <T>(verb: string, resource: string, read: () => Promise<T>) => Promise<Evidence<T>>;

function installation(session: Session, client: Client, namespace: string, look: Look) {
  const { signal } = session;
  return {
    definitions: look(
      'list',
      'customresourcedefinitions',
      async () => (await client.list(customResourceDefinitions, { signal })).items,
    ),
    kubernetesVersion: look('get', '/version', async () => {
      const { major, minor } = await client.json<{ major: string; minor: string }>('GET', '/version', {
        signal,
      });
      return `${major}.${minor.replace(/\D.*$/, '')}`;
    }),
    lease: look('list', 'leases', () => operatorLease(client, signal)),
    webhook: look('create', 'tokens', () => probeWebhook(client, namespace, signal)),
  };
}

/** Every question to Slurm waits for one connection; if there is none, each says why. */
function askSlurm(session: Session, look: Look) {
  return async <T>(resource: string, read: (slurm: SlurmClient) => Promise<T>): Promise<Evidence<T>> => {
    const found = await look('get', 'Slurm', async () => {
      const slurm = await session.slurm();
      return read(slurm).catch((error: unknown) => {
        if (error instanceof Forbidden) return forbidden<T>('list', resource);
        throw error;
      });
    });
    return found.kind === 'known' && isEvidence<T>(found.value) ? found.value : (found as Evidence<T>);
  };
}

const associationsOf = (session: Session, look: Look): Promise<Evidence<Values['associations']>> =>
  askSlurm(session, look)('associations', (slurm) =>
    slurm.accounting.associations({ signal: session.signal }),
  );

function slurmEvidence(session: Session, look: Look, job: number | undefined) {
  const ask = askSlurm(session, look);
  const options = { signal: session.signal };
  return {
    slurmNodes: ask('nodes', async (slurm) => (await slurm.nodes.list(options)).items),
    jobs: ask('jobs', async (slurm) => (await slurm.jobs.list(options)).items),
    partitions: ask('partitions', async (slurm) => (await slurm.partitions.list(options)).items),
    reservations: ask('reservations', async (slurm) => (await slurm.reservations.list(options)).items),
    diag: ask('diagnostics', (slurm) => slurm.controller.diag(options)),
    licenses: ask('licenses', (slurm) => slurm.controller.licenses(options)),
    ...(job === undefined
      ? {}
      : {
          endedJob: ask('accounting', (slurm) => slurm.accounting.job(job, options)),
          associations: associationsOf(session, look),
        }),
  };
}

const isEvidence = <T>(value: unknown): value is Evidence<T> =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'forbidden';
