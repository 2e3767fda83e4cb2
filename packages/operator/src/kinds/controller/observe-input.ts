/** What the plan of a Controller needs beside the caches: the configuration in force, and what Slurm would lose with another one. */
import { annotation, type Controller, resourceName } from '@slurm-operator/api';
import { configMaps, type Live, statefulSets } from '@slurm-operator/kube';
import type { Observing, ReconcilerManager } from '../../framework/define-reconciler.ts';
import { refusedPods } from '../../framework/refused-pods.ts';
import type { Problem } from '../../framework/status/conditions.ts';
import { problemOf } from '../../framework/status/problem-of.ts';
import { type KeyReport, KeyReports } from '../../keys/read-reports.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import type { SlurmSurvey } from '../../slurm-config/guard/slurm-work.ts';
import { ClaimModes } from './claim-modes.ts';
import { gatherEvidence } from './config-evidence.ts';
import { type ObservedController, observeController } from './observe.ts';
import { type ConfigEvidence, noEvidence } from './plan/config-hold.ts';
import { filesChanged } from './plan/decide-config.ts';
import type { ControllerMemory } from './plan/memory.ts';
import { type ControllerInput, planController } from './plan/plan.ts';
import { desiredSlurmConf } from './plan/render.ts';
import { keepsStateInPod, mayRun, restartOf } from './plan/restart.ts';
import { hashes, reportingWorkers, withNextKeys } from './plan/slurmctld-pods.ts';

export class ControllerObserver {
  readonly #manager: ReconcilerManager;
  readonly #defaults: OperatorDefaults;
  readonly #survey: SlurmSurvey;
  readonly #claimModes: ClaimModes;
  readonly #keyReports = new KeyReports();

  constructor(manager: ReconcilerManager, defaults: OperatorDefaults, survey: SlurmSurvey) {
    this.#manager = manager;
    this.#defaults = defaults;
    this.#survey = survey;
    this.#claimModes = new ClaimModes(manager.client);
  }

  async observe(
    controller: Live<Controller>,
    { memory, now, signal }: Observing<ControllerMemory>,
  ): Promise<ControllerInput> {
    const problems: Problem[] = [];
    const claimModes = await this.#claimModes.of(controller, now(), signal).catch((error: unknown) => {
      if (signal.aborted) throw error;
      problems.push({ ...problemOf(error, 'access modes of the state volume'), stillReady: true });
      return undefined;
    });
    const { namespace, name } = controller.metadata;
    const workload = { namespace, name: resourceName.controller(name) };
    const refused = await refusedPods(this.#manager, workload, signal);
    if (refused !== undefined) problems.push(refused);
    const seen = { ...observeController(this.#manager.cache, controller), claimModes };
    const observed = { ...seen, keyReports: await this.#reports(seen, signal) };
    const input = this.#withCaches(observed, {
      evidence: await this.#evidence(observed, now(), signal),
      observationProblems: problems,
      memory,
    });
    // Before the configuration in force changes or slurmctld is restarted, Slurm is asked once more what that would cost.
    if (!mayCostJobs(input, this.#defaults, now())) return input;
    return { ...input, evidence: await this.#evidence(observed, now(), signal, true) };
  }

  observeAgain(controller: Live<Controller>, before: ControllerInput): ControllerInput {
    const { claimModes, keyReports = new Map(), evidence, observationProblems, memory } = before;
    const observed = { ...observeController(this.#manager.cache, controller), claimModes, keyReports };
    return this.#withCaches(observed, { evidence, observationProblems, memory });
  }

  #withCaches(
    observed: ObservedController,
    rest: Pick<ControllerInput, 'evidence' | 'observationProblems' | 'memory'>,
  ): ControllerInput {
    const { cache } = this.#manager;
    const { namespace, name } = observed.controller.metadata;
    return {
      ...observed,
      ...rest,
      liveStatefulSet: cache.get(statefulSets, { namespace, name: resourceName.controller(name) }),
      hasConfig: cache.get(configMaps, { namespace, name: resourceName.config(name) }) !== undefined,
    };
  }

  /** While slurm.key changes: which keys each worker has read. */
  async #reports(observed: ObservedController, signal: AbortSignal): Promise<ReadonlyMap<string, KeyReport>> {
    const { metadata } = observed.controller;
    const { desired, workers } = reportingWorkers(observed);
    if (workers.length > 0)
      return this.#keyReports.read(this.#manager.client, metadata, workers, desired, signal);
    this.#keyReports.forget(metadata.uid);
    return new Map();
  }

  /** What is in force, and what Slurm would lose with the desired configuration. */
  async #evidence(
    observed: ObservedController,
    now: number,
    signal: AbortSignal,
    fresh = false,
  ): Promise<ConfigEvidence> {
    const { cache, client } = this.#manager;
    const { controller } = observed;
    const desired = controller.spec.external ? undefined : desiredSlurmConf(observed, this.#defaults);
    if (desired === undefined) return noEvidence;
    const hasAnswered = observed.cluster?.status?.slurmVersion !== undefined;
    return gatherEvidence({
      cache,
      client,
      survey: this.#survey,
      controller,
      desired,
      mayHavePartitions: hasAnswered && observed.pods.some(mayRun),
      mayHaveState: hasAnswered && observed.pods.some((pod) => keepsStateInPod(controller, pod)),
      filesChanged: filesChanged(observed),
      restarts: restartOf(withNextKeys(observed, this.#defaults, now), this.#defaults) !== undefined,
      lockedOut: locksOut(observed),
      fresh,
      signal,
    });
  }
}

/** slurmctld has another JWT key than the operator: it answers when it was restarted, and not before. */
function locksOut(observed: ObservedController): boolean {
  const runsWith = observed.statefulSet.template?.metadata?.annotations?.[annotation.jwtKeyHash] ?? '';
  const { jwtKey } = hashes(observed);
  return runsWith !== '' && jwtKey !== '' && runsWith !== jwtKey;
}

/** Whether a plan made now would put another configuration in force, or restart slurmctld. */
function mayCostJobs(input: ControllerInput, defaults: OperatorDefaults, now: number): boolean {
  const { inForce } = input.evidence;
  const { decision } = planController(input, defaults, now);
  if (decision.wantedRestart !== undefined && decision.statefulSet !== undefined) return true;
  return (
    decision.decision.kind === 'enforce' &&
    inForce !== undefined &&
    (inForce.text !== decision.configHold?.text ||
      decision.configHash !== input.controller.status?.configHash)
  );
}
