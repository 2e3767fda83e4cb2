/** The RestApi controller: slurmrestd in front of a Controller. */
import type { Controller, RestApi } from '@slurm-operator/api';
import { deployments, type Live, type ReconcileContext, type Request, services } from '@slurm-operator/kube';
import { buildRestApiDeployment, buildRestApiService } from '../builders/restapi/restapi.ts';
import type { Surroundings } from '../builders/surroundings.ts';
import { controllers, restApis } from '../cache/resources.ts';
import { keepTemplateMetadata } from '../reconcile/keep-template-metadata.ts';
import { type ReconcilerNeeds, reconcileObject } from '../reconcile/reconcile-object.ts';
import type { Steps } from '../reconcile/steps.ts';
import { cachedFacts } from '../rules/cached-facts.ts';
import { specTroubles } from '../rules/findings.ts';
import { specRules } from '../rules/spec-rules.ts';
import { verdicts } from '../status/judge.ts';
import { deploymentTroubles } from '../status/workload.ts';
import { waitsForConfig } from './waits-for-config.ts';

export class RestApiReconciler {
  readonly #manager: ReconcilerNeeds;
  readonly #around: Surroundings;

  constructor(manager: ReconcilerNeeds, around: Surroundings) {
    this.#manager = manager;
    this.#around = around;
  }

  readonly reconcile = async (request: Request, context: ReconcileContext): Promise<void> => {
    const { cache } = this.#manager;
    await reconcileObject(this.#manager, restApis, request, context, {
      act: (restApi, steps) => this.#run(restApi, steps, context.signal),
      report: (restApi, { controller }, failures) => {
        const deployment = cache.get(deployments, buildRestApiService(restApi).metadata);
        const troubles =
          controller === undefined ? [] : deploymentTroubles(deployment, restApi.spec.replicas);
        const inSpec = specTroubles(specRules.RestApi(restApi, cachedFacts(cache, restApi.metadata)));
        return {
          fields: {
            replicas: deployment?.status?.replicas ?? 0,
            readyReplicas: deployment?.status?.readyReplicas ?? 0,
          },
          verdicts: verdicts([...failures, ...troubles, ...inSpec], 'slurmrestd answers.'),
        };
      },
    });
  };

  async #run(
    restApi: Live<RestApi>,
    steps: Steps,
    signal: AbortSignal,
  ): Promise<{ readonly controller: Live<Controller> | undefined }> {
    const { cache, owned } = this.#manager;
    const owner = restApi as unknown as Live;
    const { namespace } = restApi.metadata;
    const controller = cache.get(controllers, { namespace, name: restApi.spec.controllerRef.name });
    const service = buildRestApiService(restApi);
    await steps.run(`Service ${service.metadata.name}`, () =>
      owned.apply(services, owner, service, { signal }),
    );
    if (controller !== undefined) {
      const deployment = buildRestApiDeployment({ restApi, controller, around: this.#around });
      const live = cache.get(deployments, deployment.metadata);
      if (!waitsForConfig(controller, live, deployment))
        await steps.run(`Deployment ${service.metadata.name}`, () =>
          owned.apply(deployments, owner, keepTemplateMetadata(live, deployment), { signal }),
        );
    }
    return { controller };
  }
}
