/** The RestApi controller: slurmrestd in front of a Controller. */
import type { Controller, RestApi } from '@slurm-operator/api';
import { type Cache, type Deployment, deployments, type Live, services } from '@slurm-operator/kube';
import { controllers, restApis } from '../../cache/resources.ts';
import {
  defineReconciler,
  type Outcome,
  type Plan,
  type Reconcile,
  type ReconcilerManager,
  type StatusReport,
} from '../../framework/define-reconciler.ts';
import { planDeployment } from '../../framework/plan-workload.ts';
import { type Problem, summaryConditions } from '../../framework/status/conditions.ts';
import { deploymentProblems } from '../../framework/status/problem-of.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import { cachedFacts, problemsIn } from '../../rules/findings.ts';
import { specRules } from '../../rules/spec-rules.ts';
import { buildRestApiDeployment, buildRestApiService } from './objects/restapi.ts';
import { waitsForConfig } from './waits-for-config.ts';

export interface ObservedRestApi {
  readonly restApi: Live<RestApi>;
  readonly controller: Live<Controller> | undefined;
  readonly deployment: Live<Deployment> | undefined;
  readonly specProblems: readonly Problem[];
}

export const restApiReconciler = (manager: ReconcilerManager, defaults: OperatorDefaults): Reconcile =>
  defineReconciler(manager, {
    resource: restApis,
    observe: (restApi) => observeRestApi(manager.cache, restApi),
    plan: (observed) => planRestApi(observed, defaults),
    status: restApiStatus,
  });

function observeRestApi(cache: Cache, restApi: Live<RestApi>): ObservedRestApi {
  const { namespace } = restApi.metadata;
  return {
    restApi,
    controller: cache.get(controllers, { namespace, name: restApi.spec.controllerRef.name }),
    deployment: cache.get(deployments, buildRestApiService(restApi).metadata),
    specProblems: problemsIn(specRules.RestApi(restApi, cachedFacts(cache, restApi.metadata))),
  };
}

export function planRestApi(
  { restApi, controller, deployment }: ObservedRestApi,
  defaults: OperatorDefaults,
): Plan {
  const desired =
    controller === undefined ? undefined : buildRestApiDeployment({ restApi, controller, defaults });
  const isDue =
    controller !== undefined && desired !== undefined && !waitsForConfig(controller, deployment, desired);
  return {
    actions: [
      { type: 'Apply', resource: services, object: buildRestApiService(restApi) },
      ...(isDue ? planDeployment(restApi, deployment, desired) : []),
    ],
    problems: [],
  };
}

export function restApiStatus({ observed, problems }: Outcome<ObservedRestApi, Plan>): StatusReport {
  const { restApi, controller, deployment, specProblems } = observed;
  const workload = controller === undefined ? [] : deploymentProblems(deployment, restApi.spec.replicas);
  return {
    fields: {
      replicas: deployment?.status?.replicas ?? 0,
      readyReplicas: deployment?.status?.readyReplicas ?? 0,
    },
    conditions: summaryConditions([...problems, ...workload, ...specProblems], 'slurmrestd answers.'),
  };
}
