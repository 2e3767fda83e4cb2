/** Carries out what the trial of a configuration needs next: pods to create and to delete. */
import { type Controller, resourceName } from '@slurm-operator/api';
import {
  AlreadyExistsError,
  type ConfigMap,
  configMaps,
  controllerReference,
  explain,
  type Live,
  pods,
} from '@slurm-operator/kube';
import type { ReconcilerManager } from '../../framework/define-reconciler.ts';
import { refusedRequest } from '../../framework/status/problem-of.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import { buildTrialPod } from '../../slurm-config/trial/config-check.ts';
import type { Trial, TrialDecision } from '../../slurm-config/trial/trial.ts';
import { buildTrialConfig, type TrialTexts } from '../../slurm-config/trial/trial-files.ts';
import type { TrialPart } from '../../slurm-config/trial/trial-worker.ts';
import type { ObservedController } from './observe.ts';
import type { ControllerDecision } from './plan/decide.ts';

export interface TrialRun {
  readonly controller: Live<Controller>;
  readonly observed: ObservedController;
  readonly plan: ControllerDecision;
  /** What is tried. */
  readonly config: ConfigMap;
  readonly digest: string;
  readonly signal: AbortSignal;
}

/** After a refusal of a pod: quotas and policies change rarely. */
const afterRefusal = 15_000;

export class TrialRunner {
  readonly #manager: ReconcilerManager;
  readonly #defaults: OperatorDefaults;

  constructor(manager: ReconcilerManager, defaults: OperatorDefaults) {
    this.#manager = manager;
    this.#defaults = defaults;
  }

  /** The same decision, with the reason where Kubernetes refuses a pod: the condition shows it beside the way out. */
  async run(
    decision: Extract<TrialDecision, { kind: 'try' }>,
    run: TrialRun,
    now: number,
  ): Promise<TrialDecision> {
    await this.remove(decision.remove, run);
    try {
      await this.#start(decision.start, run);
      return decision;
    } catch (error) {
      if (run.signal.aborted) throw error;
      const message = `the pod of the trial cannot be created: ${refusedRequest(error)?.message ?? explain(error)}`;
      return { ...decision, message, again: now + afterRefusal };
    }
  }

  async remove(trials: readonly Trial[], { controller, signal }: TrialRun): Promise<void> {
    const { namespace } = controller.metadata;
    // At once: it has nothing to save, and the kubelet of a lost node would never confirm its end.
    for (const { name, uid } of trials)
      await this.#manager.client.delete(pods, { namespace, name }, { uid, gracePeriodSeconds: 0, signal });
  }

  async #start(parts: readonly TrialPart[], run: TrialRun): Promise<void> {
    if (parts.length === 0) return;
    const { client, owned } = this.#manager;
    const { controller, observed, plan, config, digest, signal } = run;
    const trialConfig = buildTrialConfig(plan.controller, config, await this.#texts(run));
    await owned.apply(configMaps, controller, trialConfig, { signal });
    const files = observed.configMaps.map(({ name, keys }) => ({ name, keys: keys && Object.keys(keys) }));
    const rendered = Object.keys(trialConfig.data ?? {});
    for (const part of parts) {
      const pod = buildTrialPod({
        controller: plan.controller,
        defaults: this.#defaults,
        digest,
        part,
        rendered,
        files,
      });
      const ownerReferences = [controllerReference(controller)];
      try {
        await client.create(pods, { ...pod, metadata: { ...pod.metadata, ownerReferences } }, { signal });
      } catch (error) {
        // The cache has not seen it yet.
        if (!(error instanceof AlreadyExistsError)) throw error;
      }
    }
  }

  /** What is in force, and the site's gres.conf: the cache has only digests of them. */
  async #texts({ controller, observed, plan, signal }: TrialRun): Promise<TrialTexts> {
    const { client } = this.#manager;
    const { namespace, name } = controller.metadata;
    const read = async (map: string | undefined) =>
      map === undefined
        ? undefined
        : (await client.find(configMaps, { namespace, name: map }, { signal }))?.data;
    const withGres = observed.configMaps.find(({ keys }) => keys?.['gres.conf'] !== undefined)?.name;
    return {
      current: plan.comparesTrial ? await read(resourceName.config(name)) : undefined,
      gresConf: (await read(withGres))?.['gres.conf'],
    };
  }
}
