/** The operator on an embedded API server, with one Accounting whose database a real or simulated slurmrestd leads to. */
import type { Account, QualityOfService } from '@slurm-operator/api';
import { startApiServer } from '@slurm-operator/apiserver';
import { type Client, type Condition, findCondition, type Resource, services } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import type { SlurmClient } from '@slurm-operator/slurm';
import { accountings, controllers, restApis } from '../src/cache/resources.ts';
import { aController, anAccounting, aRestApi } from './objects.ts';
import { type OperatorWorld, type RunningOperator, startOperatorWorld } from './operator-world.ts';
import { loopbackServices, SlurmBehindService } from './slurm-behind-service.ts';

export interface StageSlurm {
  readonly server: string;
  readonly jwtKey: Buffer;
  client(): SlurmClient;
}

const namespace = 'hpc';
export const stageAccounting = 'slurm';

/** Objects of one kind that declare rows. */
export class RowStage<T extends Account | QualityOfService> implements AsyncDisposable {
  readonly #resource: Resource<T>;
  readonly world: OperatorWorld;
  readonly slurm: SlurmClient;
  readonly #proxy: SlurmBehindService;
  #operator: RunningOperator;

  private constructor(
    resource: Resource<T>,
    world: OperatorWorld,
    slurm: SlurmClient,
    proxy: SlurmBehindService,
    operator: RunningOperator,
  ) {
    this.#resource = resource;
    this.world = world;
    this.slurm = slurm;
    this.#proxy = proxy;
    this.#operator = operator;
  }

  static async open<T extends Account | QualityOfService>(
    slurm: StageSlurm,
    resource: Resource<T>,
  ): Promise<RowStage<T>> {
    const server = await startApiServer({ serviceNetwork: loopbackServices });
    const world = await startOperatorWorld(undefined, { server, stop: () => server.stop() });
    await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
    await world.putSecret('slurm-jwt', 'jwt.key', slurm.jwtKey);
    await world.put(accountings, anAccounting({}, { name: stageAccounting }));
    await world.put(
      controllers,
      aController({ accountingRef: { name: stageAccounting }, clusterName: 'mini' }),
    );
    await world.put(restApis, aRestApi());
    const operator = await world.operate(operatorOptions);
    const service = await until('the Service of slurmrestd', () =>
      world.client.find(services, { namespace, name: 'slurm-restapi' }),
    );
    const proxy = await SlurmBehindService.open(service, slurm);
    return new RowStage(resource, world, slurm.client(), proxy, operator);
  }

  get kube(): Client {
    return this.world.client;
  }

  async create(name: string, spec: object = {}): Promise<void> {
    await this.kube.create(this.#resource, {
      apiVersion: this.#resource.apiVersion,
      kind: this.#resource.kind,
      metadata: { name, namespace },
      spec: { accountingRef: { name: stageAccounting }, ...spec },
    } as never);
  }

  /** A merge patch of the specification; null removes a field. */
  async edit(name: string, spec: object): Promise<void> {
    await this.kube.mergePatch(this.#resource, { namespace, name }, { spec });
  }

  get(name: string): Promise<T | undefined> {
    return this.kube.find(this.#resource, { namespace, name }) as Promise<T | undefined>;
  }

  async delete(name: string): Promise<void> {
    await this.kube.delete(this.#resource, { namespace, name });
  }

  gone(name: string): Promise<unknown> {
    return until(
      `${this.#resource.kind} ${name} to be gone`,
      async () => (await this.get(name)) === undefined,
    );
  }

  /** Resolves when the newest specification was acted on, with this reason of Ready. */
  ready(name: string, reason = 'Ready'): Promise<Condition> {
    return until(`${this.#resource.kind} ${name} to say ${reason}`, async () => {
      const object = await this.get(name);
      const ready = findCondition(object?.status?.conditions, 'Ready');
      const isCurrent = ready?.observedGeneration === object?.metadata.generation;
      return isCurrent && ready?.reason === reason ? ready : undefined;
    });
  }

  /** Another operator takes over: what was in memory is lost. */
  async restart(): Promise<void> {
    await this.#operator.stop();
    this.#operator = await this.world.operate(operatorOptions);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.stop();
    await this.#proxy[Symbol.asyncDispose]();
  }
}

const operatorOptions = {
  reachBy: 'address',
  slurm: { requestTimeoutMs: 5_000, backoff: { initial: 100, limit: 500 }, pollPeriodMs: 500 },
} as const;
