/** The whole operator on an embedded API server, for integration tests. */
import { setTimeout as wait } from 'node:timers/promises';
import { customResourceDefinition, kinds } from '@slurm-operator/api';
import { type ApiServer, type AuditEntry, startApiServer } from '@slurm-operator/apiserver';
import {
  type Client,
  type Condition,
  createClient,
  createManager,
  customResourceDefinitions,
  findCondition,
  type KubeObject,
  kubeconfigConfig,
  type Manager,
  type ManagerOptions,
  NotFoundError,
  namespaces,
  pods,
  type Resource,
  secrets,
} from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { type Operator, type OperatorOptions, setupOperator } from '../src/programs/operator.ts';
import { managerClusterRules, managerNamespaceRules } from '../src/rbac/rules.ts';
import { operatorDefaults } from './objects.ts';
import { type Grants, refusals, restrictedConfig, warnings } from './restricted-config.ts';

export interface OperatorWorld {
  readonly server: ApiServer;
  /** An administrator's client, not the operator's. */
  readonly client: Client;
  readonly namespace: string;
  /** Creates an object of `objects.ts` as a user would: without what the API server adds. */
  put<T extends KubeObject>(
    resource: Resource<T>,
    object: Manifest,
    at?: { readonly name?: string; readonly namespace?: string },
  ): Promise<unknown>;
  putSecret(name: string, field: string, value: string | Buffer): Promise<unknown>;
  condition<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    type: string,
  ): Promise<Condition | undefined>;
  /** Resolves when the condition has this reason. */
  said<T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    type: string,
    reason: string,
  ): Promise<Condition>;
  /** Starts an operator; the answer stops it. */
  operate(options?: Partial<OperatorOptions>, manager?: Partial<ManagerOptions>): Promise<RunningOperator>;
  /** Everything that operators have written so far, events aside. */
  writes(): AuditEntry[];
  /** Resolves when no operator has written anything for a moment. */
  settled(): Promise<void>;
  /** Throws if the operator was refused anything, except for what the test expects, such as `create pods in hpc`. */
  stop(expectedRefusals?: readonly string[]): Promise<void>;
}

/** What a user writes of an object. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

export interface RunningOperator extends Operator {
  readonly manager: Manager;
  stop(): Promise<void>;
}

/** Exactly what an installation grants: a missing permission shows in every test. */
const everywhere: Grants = { cluster: [...managerClusterRules, ...managerNamespaceRules] };

const namespace = 'hpc';
const patience = 120_000;
const reading = new Set(['get', 'list', 'watch']);
const workers = {
  controller: 2,
  nodeset: 2,
  restapi: 2,
  accounting: 2,
  loginset: 2,
  token: 2,
  account: 128,
  qos: 2,
  slurmclient: 2,
};

/** What the operator runs on: an API server, and whatever else belongs to it. */
export interface Ground {
  readonly server: ApiServer;
  stop(): Promise<void>;
}

async function bareGround(): Promise<Ground> {
  const server = await startApiServer();
  return { server, stop: () => server.stop() };
}

/**
 * `grants`: what the operator may do. @default what an installation for the whole cluster grants
 * `passesTrials`: every trial of a configuration passes automatically.
 */
export async function startOperatorWorld(
  grants: Grants = everywhere,
  given?: Ground,
  { passesTrials = true }: { readonly passesTrials?: boolean } = {},
): Promise<OperatorWorld> {
  const ground = given ?? (await bareGround());
  const { server } = ground;
  const client = createClient(await kubeconfigConfig({ text: server.kubeconfig() }), { userAgent: 'test' });
  const running = new Set<RunningOperator>();
  for (const definition of kinds)
    await client.create(customResourceDefinitions, customResourceDefinition(definition) as never);
  for (const name of new Set([namespace, ...Object.keys(grants.namespaces ?? {})]))
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const config = await restrictedConfig(server, client, 'slurm-operator', grants);
  const writes = () =>
    server.audit.find(
      ({ userAgent, verb, resource }) =>
        userAgent.startsWith('slurm-operator') && !reading.has(verb) && resource !== 'events',
    );
  const condition: OperatorWorld['condition'] = async (resource, name, type) => {
    const object = await client.get(resource, { namespace, name });
    const { status } = object as unknown as { status?: { conditions?: Condition[] } };
    return findCondition(status?.conditions, type);
  };
  const trials = new AbortController();
  const passing = passesTrials ? passTrials(client, trials.signal) : Promise.resolve();
  return {
    server,
    client,
    namespace,
    writes,
    async operate(options = {}, managerOptions = {}) {
      const manager = await createManager({ name: 'slurm-operator', config, ...managerOptions });
      const { debugVars } = setupOperator(manager, {
        ...operatorDefaults,
        workers,
        nodeSetParallel: 16,
        propagatedConditions: [],
        reachBy: 'name',
        ...options,
      });
      const stopping = new AbortController();
      const ended = manager.start(stopping.signal);
      const operator: RunningOperator = {
        manager,
        debugVars,
        async stop() {
          running.delete(operator);
          stopping.abort();
          await ended;
        },
      };
      running.add(operator);
      return operator;
    },
    condition,
    said: (resource, name, type, reason) =>
      until(`${resource.kind} ${name} to say ${type} ${reason}`, async () => {
        const found = await condition(resource, name, type);
        return found?.reason === reason ? found : undefined;
      }),
    put: (resource, { apiVersion, kind, metadata: { name }, spec }, at) =>
      client.create(resource, { apiVersion, kind, metadata: { name, namespace, ...at }, spec } as never),
    putSecret: (name, field, value) =>
      client.create(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace },
        data: { [field]: Buffer.from(value).toString('base64') },
      }),
    async settled() {
      const deadline = Date.now() + patience;
      for (let quiet = 0, before = writes().length; quiet < 10; ) {
        if (Date.now() > deadline) throw new Error('the operator does not stop writing');
        await wait(50);
        const now = writes().length;
        quiet = now === before ? quiet + 1 : 0;
        before = now;
      }
    },
    async stop(expectedRefusals = []) {
      for (const operator of running) await operator.stop();
      const refused = refusals(server, 'slurm-operator').filter((one) => !expectedRefusals.includes(one));
      trials.abort();
      await passing;
      client.close();
      await ground.stop();
      if (refused.length > 0) throw new Error(`the operator was refused: ${refused.join('; ')}`);
      const warned = warnings(server, 'slurm-operator');
      if (warned.length > 0) throw new Error(`the API server warned the operator: ${warned.join('; ')}`);
    },
  };
}

/** There is no kubelet here: whatever configuration is tried in a pod is found good. */
async function passTrials(client: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { items } = await client.list(pods, { labelSelector: 'app.kubernetes.io/name=config-check' });
    for (const { metadata, status } of items)
      if (status?.phase !== 'Succeeded')
        await client
          .mergePatch(pods, metadata, { status: { phase: 'Succeeded' } }, { subresource: 'status' })
          .catch((error: unknown) => {
            if (!(error instanceof NotFoundError)) throw error;
          });
    await wait(50, undefined, { signal }).catch(() => undefined);
  }
}
