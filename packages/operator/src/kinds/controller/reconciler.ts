/** The Controller controller: slurmctld and its configuration. */
import { controllers } from '../../cache/resources.ts';
import {
  defineReconciler,
  type Reconcile,
  type ReconcilerManager,
} from '../../framework/define-reconciler.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import type { SlurmSurvey } from '../../slurm-config/guard/slurm-work.ts';
import { ControllerActor } from './act.ts';
import { ControllerObserver } from './observe-input.ts';
import { emptyControllerMemory } from './plan/memory.ts';
import {
  type ControllerInput,
  type ControllerPlan,
  planController,
  rememberController,
} from './plan/plan.ts';
import { controllerEvents, controllerReport, lookAgainAt } from './report.ts';

/** Changes of a configuration are gathered for a moment. */
const soonest = 100;

export function controllerReconciler(
  manager: ReconcilerManager,
  defaults: OperatorDefaults,
  survey: SlurmSurvey,
): Reconcile {
  const observer = new ControllerObserver(manager, defaults, survey);
  const actor = new ControllerActor(manager, defaults, survey);
  return defineReconciler(manager, {
    resource: controllers,
    soonest,
    memory: { initial: emptyControllerMemory, next: rememberController },
    observe: (controller, observing) => observer.observe(controller, observing),
    plan: (observed: ControllerInput, now: number): ControllerPlan => planController(observed, defaults, now),
    act: (action, acting) => actor.act(action, acting),
    observeAgain: (controller, before) => observer.observeAgain(controller, before),
    status: controllerReport,
    events: controllerEvents,
    lookAgainAt,
    forget: ({ namespace = '', name }) => survey.forget(namespace, name),
  });
}
