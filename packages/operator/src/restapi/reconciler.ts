/** The RestApi controller: slurmrestd in front of a Controller. */
import {
  deployments,
  type Live,
  type Manager,
  type ReconcileContext,
  type Request,
  type Result,
  services,
} from '@slurm-operator/kube';
import { buildRestApiDeployment, buildRestApiService } from '../builders/restapi/restapi.ts';
import type { Surroundings } from '../builders/surroundings.ts';
import { controllers, restApis } from '../cache/resources.ts';
import { Steps } from '../reconcile/steps.ts';
import { type Trouble, verdicts } from '../status/judge.ts';
import { deploymentTroubles } from '../status/workload.ts';
import { writeStatus } from '../status/write-status.ts';

type Needs = Pick<Manager, 'cache' | 'client' | 'owned' | 'recorder'>;

export class RestApiReconciler {
  readonly #manager: Needs;
  readonly #around: Surroundings;

  constructor(manager: Needs, around: Surroundings) {
    this.#manager = manager;
    this.#around = around;
  }

  readonly reconcile = async (request: Request, context: ReconcileContext): Promise<Result | void> => {
    const { cache, client, owned } = this.#manager;
    const restApi = cache.get(restApis, request);
    if (restApi === undefined || restApi.metadata.deletionTimestamp !== undefined) return;
    const owner = restApi as unknown as Live;
    const { namespace } = restApi.metadata;
    const { signal } = context;
    const { name: controllerName } = restApi.spec.controllerRef;
    const controller = cache.get(controllers, { namespace, name: controllerName });

    const steps = new Steps(owner, this.#manager.recorder, signal);
    const service = buildRestApiService(restApi);
    await steps.run(`Service ${service.metadata.name}`, () =>
      owned.apply(services, owner, service, { signal }),
    );
    if (controller !== undefined)
      await steps.run(`Deployment ${service.metadata.name}`, () =>
        owned.apply(
          deployments,
          owner,
          buildRestApiDeployment({ restApi, controller, around: this.#around }),
          { signal },
        ),
      );
    const troubles: Trouble[] = steps.failures;
    if (controller === undefined)
      troubles.push({
        reason: 'ControllerNotFound',
        message: `spec.controllerRef.name is "${controllerName}", and there is no such Controller in namespace ${namespace}: create it, or correct the name.`,
      });

    const after = cache.get(restApis, request);
    if (after === undefined) return;
    const deployment = cache.get(deployments, { namespace, name: service.metadata.name });
    if (controller !== undefined) troubles.push(...deploymentTroubles(deployment, restApi.spec.replicas));
    await writeStatus(
      restApis,
      after,
      {
        replicas: deployment?.status?.replicas ?? 0,
        readyReplicas: deployment?.status?.readyReplicas ?? 0,
      },
      verdicts(troubles, 'slurmrestd answers.'),
      client,
      context,
    );
    steps.throwFailures();
  };
}
