/** The Controller controller: observe, plan, act, and say how it went. */
import {
  configMaps,
  type Live,
  type Manager,
  pods,
  type ReconcileContext,
  type Request,
  type Result,
  services,
  statefulSets,
} from '@slurm-operator/kube';
import type { Surroundings } from '../builders/surroundings.ts';
import { clusters, controllers } from '../resources.ts';
import { writeStatus } from '../status/write-status.ts';
import { Steps } from '../steps.ts';
import { ConfigPace } from './config-pace.ts';
import { configSeenAnnotation, observeController } from './observe.ts';
import { planController } from './plan.ts';
import { controllerStatus } from './status.ts';

type Needs = Pick<Manager, 'cache' | 'client' | 'owned' | 'recorder'>;

export class ControllerReconciler {
  readonly #manager: Needs;
  readonly #around: Surroundings;
  readonly #pace = new ConfigPace();

  constructor(manager: Needs, around: Surroundings) {
    this.#manager = manager;
    this.#around = around;
  }

  readonly reconcile = async (request: Request, context: ReconcileContext): Promise<Result | void> => {
    const { cache, client, owned } = this.#manager;
    const controller = cache.get(controllers, request);
    if (controller === undefined || controller.metadata.deletionTimestamp !== undefined)
      return this.#pace.forget(request.key);
    const owner = controller as unknown as Live;
    const { signal } = context;
    const observed = observeController(cache, controller);
    const plan = planController(observed, this.#around);

    const steps = new Steps(owner, this.#manager.recorder, signal);
    for (const service of plan.services)
      await steps.run(`Service ${service.metadata.name}`, () =>
        owned.apply(services, owner, service, { signal }),
      );
    const { config, statefulSet } = plan;
    const pause = this.#pace.wait(request.key, plan.configHash, context.clock.now());
    const configured =
      config !== undefined &&
      pause === 0 &&
      (await steps.run(`ConfigMap ${config.metadata.name}`, () =>
        owned.apply(configMaps, owner, config, { signal }),
      ));
    if (configured) {
      this.#pace.wrote(request.key, plan.configHash, context.clock.now());
      for (const name of plan.touch)
        await steps.run(`Pod ${name}`, () =>
          // Any change of a pod makes its kubelet look at its volumes at once, instead of in a minute or so.
          client.mergePatch(
            pods,
            { namespace: controller.metadata.namespace, name },
            { metadata: { annotations: { [configSeenAnnotation]: plan.configHash } } },
            { signal },
          ),
        );
    }
    const configExists = config !== undefined && cache.get(configMaps, config.metadata) !== undefined;
    if (statefulSet !== undefined && (configExists || observed.statefulSet.exists))
      await steps.run(`StatefulSet ${statefulSet.metadata.name}`, () =>
        owned.apply(statefulSets, owner, statefulSet, { signal }),
      );
    await steps.run(`Cluster ${plan.cluster.metadata.name}`, () =>
      owned.apply(clusters, owner, plan.cluster, { signal }),
    );

    const after = cache.get(controllers, request);
    if (after === undefined) return;
    const { fields, verdicts } = controllerStatus(observeController(cache, after), plan, steps.failures);
    await writeStatus(controllers, after, fields, verdicts, client, context);
    steps.throwFailures();
    if (pause > 0) return { requeueAfter: pause };
  };
}
