/** The operator on an embedded API server, with one Accounting whose database a real or simulated slurmrestd leads to. */
import { type QualityOfService, qualityOfServiceKind } from '@slurm-operator/api';
import { startApiServer } from '@slurm-operator/apiserver';
import { type Client, type Condition, findCondition, services } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import type { SlurmClient } from '@slurm-operator/slurm';
import { accountings, controllers, qualitiesOfService, restApis } from '../src/cache/resources.ts';
import { aController, anAccounting, aRestApi } from './objects.ts';
import { type OperatorWorld, type RunningOperator, startOperatorWorld } from './operator-world.ts';
import { loopbackServices, SlurmBehindService } from './slurm-behind-service.ts';

export interface QosSlurm {
  readonly server: string;
  readonly jwtKey: Buffer;
  client(): SlurmClient;
}

const namespace = 'hpc';
export const qosAccounting = 'slurm';

export class QosStage implements AsyncDisposable {
  readonly world: OperatorWorld;
  readonly slurm: SlurmClient;
  readonly #proxy: SlurmBehindService;
  #operator: RunningOperator;

  private constructor(
    world: OperatorWorld,
    slurm: SlurmClient,
    proxy: SlurmBehindService,
    operator: RunningOperator,
  ) {
    this.world = world;
    this.slurm = slurm;
    this.#proxy = proxy;
    this.#operator = operator;
  }

  static async open(slurm: QosSlurm): Promise<QosStage> {
    const server = await startApiServer({ serviceNetwork: loopbackServices });
    const world = await startOperatorWorld(undefined, { server, stop: () => server.stop() });
    await world.putSecret('slurm-auth', 'slurm.key', 'k'.repeat(64));
    await world.putSecret('slurm-jwt', 'jwt.key', slurm.jwtKey);
    await world.put(accountings, anAccounting({}, { name: qosAccounting }));
    await world.put(controllers, aController({ accountingRef: { name: qosAccounting } }));
    await world.put(restApis, aRestApi());
    const operator = await world.operate(operatorOptions);
    const service = await until('the Service of slurmrestd', () =>
      world.client.find(services, { namespace, name: 'slurm-restapi' }),
    );
    const proxy = await SlurmBehindService.open(service, slurm);
    return new QosStage(world, slurm.client(), proxy, operator);
  }

  get kube(): Client {
    return this.world.client;
  }

  async create(name: string, spec: object = {}): Promise<void> {
    await this.kube.create(qualitiesOfService, {
      apiVersion: qualitiesOfService.apiVersion,
      kind: qualityOfServiceKind.kind,
      metadata: { name, namespace },
      spec: { accountingRef: { name: qosAccounting }, ...spec },
    } as never);
  }

  /** A merge patch of the specification; null removes a field. */
  async edit(name: string, spec: object): Promise<void> {
    await this.kube.mergePatch(qualitiesOfService, { namespace, name }, { spec });
  }

  get(name: string): Promise<QualityOfService | undefined> {
    return this.kube.find(qualitiesOfService, { namespace, name }) as Promise<QualityOfService | undefined>;
  }

  async delete(name: string): Promise<void> {
    await this.kube.delete(qualitiesOfService, { namespace, name });
  }

  gone(name: string): Promise<unknown> {
    return until(`QualityOfService ${name} to be gone`, async () => (await this.get(name)) === undefined);
  }

  /** Resolves when the newest specification was acted on, with this reason of Ready. */
  ready(name: string, reason = 'Ready'): Promise<Condition> {
    return until(`QualityOfService ${name} to say ${reason}`, async () => {
      const object = await this.get(name);
      const ready = findCondition(object?.status?.conditions, 'Ready');
      const isCurrent = ready?.observedGeneration === object?.metadata.generation;
      return isCurrent && ready?.reason === reason ? ready : undefined;
    });
  }

  async row(name: string) {
    return (await this.slurm.accounting.qos.list()).find((row) => row.name === name);
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
