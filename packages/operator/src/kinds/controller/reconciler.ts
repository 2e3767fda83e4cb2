/** The Controller controller: observe, plan, act, and say how it went. */
import { annotation, type Controller, conditionType, resourceName } from '@slurm-operator/api';
import {
  configMaps,
  type Live,
  NotFoundError,
  pods,
  type ReconcileContext,
  type Request,
  type Result,
  services,
} from '@slurm-operator/kube';
import { clusters, controllers } from '../../cache/resources.ts';
import { applyStatefulSet } from '../../framework/apply-stateful-set.ts';
import type { ReconcilerManager } from '../../framework/define-reconciler.ts';
import { refusedPods } from '../../framework/refused-pods.ts';
import type { Trouble } from '../../framework/status/judge.ts';
import { writeStatus } from '../../framework/status/write-status.ts';
import { Steps } from '../../framework/steps.ts';
import type { Surroundings } from '../../objects/surroundings.ts';
import { specHints } from '../../rules/findings.ts';
import { SpecHints } from '../../rules/spec-hints.ts';
import type { SlurmSurvey } from '../../slurm-config/guard/slurm-work.ts';
import type { TrialDecision } from '../../slurm-config/trial/trial.ts';
import { ClaimModes } from './claim-modes.ts';
import { ClaimResizer } from './claim-resizer.ts';
import { gatherEvidence, noEvidence } from './config-evidence.ts';
import { type ConfigEvidence, holdEvents } from './config-hold.ts';
import { ConfigPace } from './config-pace.ts';
import { KeyMaker } from './key-maker.ts';
import { configSeenAnnotation } from './objects/reconfigure.ts';
import { type ObservedController, observeController } from './observe.ts';
import { type ControllerPlan, controllerFindings, desiredSlurmConf, planController } from './plan.ts';
import { ServiceMonitors } from './service-monitors.ts';
import { controllerStatus } from './status.ts';
import { type TrialRun, TrialRunner } from './trial-runner.ts';

/** The kind ServiceMonitor may be installed at any time, and nothing tells us. */
const lookForPrometheus = 60_000;
/** While part of a configuration waits for jobs; the survey decides how often Slurm is really asked. */
const askAgain = 2_000;

/** As long as slurmctld may take from the write of a configuration until it has read it. */
const readWithin = 120_000;

/** Milliseconds until slurmctld has read the configuration in force for certain. */
function untilRead({ status }: Live<Controller>, now: number): number {
  const applied = status?.conditions?.find(({ type }) => type === conditionType.configApplied);
  if (applied?.status !== 'True') return readWithin;
  return Math.max(0, Date.parse(applied.lastTransitionTime) + readWithin - now);
}

export class ControllerReconciler {
  readonly #manager: ReconcilerManager;
  readonly #around: Surroundings;
  readonly #pace = new ConfigPace();
  readonly #monitors = new ServiceMonitors();
  readonly #keys: KeyMaker;
  readonly #claims: ClaimResizer;
  readonly #claimModes: ClaimModes;
  readonly #hints: SpecHints;
  readonly #survey: SlurmSurvey;
  readonly #trials: TrialRunner;

  constructor(manager: ReconcilerManager, around: Surroundings, survey: SlurmSurvey) {
    this.#manager = manager;
    this.#around = around;
    this.#survey = survey;
    this.#keys = new KeyMaker(manager);
    this.#trials = new TrialRunner(manager, around);
    this.#claims = new ClaimResizer(manager.client);
    this.#claimModes = new ClaimModes(manager.client);
    this.#hints = new SpecHints(manager.recorder);
  }

  readonly reconcile = async (request: Request, context: ReconcileContext): Promise<Result | void> => {
    const { cache, client, owned } = this.#manager;
    const controller = cache.get(controllers, request);
    if (controller === undefined || controller.metadata.deletionTimestamp !== undefined) {
      this.#pace.forget(request.key);
      this.#hints.forget(request.key);
      this.#survey.forget(request.namespace ?? '', request.name);
      return this.#monitors.forget(request.key);
    }
    const owner = controller as unknown as Live;
    const { signal } = context;
    const steps = new Steps(owner, this.#manager.recorder, signal);
    await this.#keys.make(observeController(cache, controller), steps, signal);
    let claimModes: readonly string[] | undefined;
    await steps.run('resize of the state volume', async () => {
      claimModes = await this.#claimModes.of(controller, context.clock, signal);
    });
    const observed = { ...observeController(cache, controller), claimModes };
    this.#hints.say(controller, specHints(controllerFindings(observed)));
    const now = context.clock.now();
    const plan = await this.#plan(observed, now, signal);
    const closing = await this.#closeNodes(observed, plan, now, steps, signal);

    for (const service of plan.services)
      await steps.run(`Service ${service.metadata.name}`, () =>
        owned.apply(services, owner, service, { signal }),
      );
    const { config, statefulSet } = plan;
    const pause = this.#pace.wait(request.key, plan.configHash, context.clock.now());
    const { enforced, decision } =
      config !== undefined && pause === 0
        ? await this.#enforce({ controller, observed, plan, config, signal }, steps, context)
        : { enforced: false, decision: plan.decision };
    // First the workers, whose files take a moment to change: then slurmctld follows.
    if (plan.tell.workers.length > 0) await this.#tellWorkers(controller, plan.tell, steps, signal);
    const configExists = config !== undefined && cache.get(configMaps, config.metadata) !== undefined;
    // New files with the old slurm.conf are a configuration that nobody has tried.
    const held = plan.needsConfig && !enforced;
    if (statefulSet !== undefined && !held && (configExists || observed.statefulSet.exists))
      await steps.run(`StatefulSet ${statefulSet.metadata.name}`, () =>
        applyStatefulSet(this.#manager, owner, statefulSet, signal),
      );
    const volume = await this.#resize(request.namespace ?? '', plan, steps, context);
    const { renew } = plan;
    if (renew !== undefined)
      await steps.run(`Pod ${renew.name}`, () =>
        client.delete(
          pods,
          { namespace: request.namespace ?? '', name: renew.name },
          { uid: renew.uid, signal },
        ),
      );
    let prometheusAbsent = false as boolean;
    await steps.run('ServiceMonitor', async () => {
      prometheusAbsent = (await this.#monitors.sync(controller, client, signal)) === 'absent';
    });
    await steps.run(`Cluster ${plan.cluster.metadata.name}`, () =>
      owned.apply(clusters, owner, plan.cluster, { signal }),
    );

    const { namespace = '' } = request;
    const refused = await refusedPods(
      this.#manager,
      { namespace, name: resourceName.controller(request.name) },
      signal,
    );
    const after = cache.get(controllers, request);
    if (after === undefined) return;
    const { fields, verdicts } = controllerStatus(
      observeController(cache, after),
      { ...plan, decision, ...(enforced ? { enforced: plan.configHash } : {}) },
      [...steps.failures, ...volume.troubles, ...(refused === undefined ? [] : [refused])],
    );
    await writeStatus(controllers, after, fields, verdicts, client, context);
    for (const { type, reason, note } of holdEvents(after, plan.configHold))
      this.#manager.recorder.record({ regarding: owner, type, reason, note });
    steps.throwFailures();
    if (pause > 0) return { requeueAfter: pause };
    const again = decision.kind === 'try' ? decision.again : undefined;
    const later = [
      ...(again === undefined ? [] : [Math.max(again - context.clock.now(), 1_000)]),
      ...(plan.configHold?.waiting === undefined ? [] : [askAgain]),
      ...closing,
      ...(prometheusAbsent ? [lookForPrometheus] : []),
      ...volume.again,
    ];
    if (later.length > 0) return { requeueAfter: Math.min(...later) };
  };

  async #resize(
    namespace: string,
    { resize }: ControllerPlan,
    steps: Steps,
    { signal, clock }: ReconcileContext,
  ): Promise<{ troubles: readonly Trouble[]; again: readonly number[] }> {
    let result: { troubles: readonly Trouble[]; again: readonly number[] } = { troubles: [], again: [] };
    await steps.run('PersistentVolumeClaim of slurmctld', async () => {
      result = await this.#claims.resize(namespace, resize, clock.now(), signal);
    });
    return result;
  }

  /** A plan that would change the configuration in force is made again with what Slurm says right before the write. */
  async #plan(observed: ObservedController, now: number, signal: AbortSignal): Promise<ControllerPlan> {
    const evidence = await this.#evidence(observed, signal);
    const plan = planController(observed, this.#around, { evidence, now });
    const changes = evidence.inForce !== undefined && evidence.inForce.text !== plan.configHold?.text;
    if (plan.decision.kind !== 'enforce' || !changes) return plan;
    return planController(observed, this.#around, {
      evidence: await this.#evidence(observed, signal, true),
      now,
    });
  }

  /** Nodes whose line goes or changes are drained first; says in how many milliseconds there is more to do. */
  async #closeNodes(
    { controller }: ObservedController,
    { configHold }: ControllerPlan,
    now: number,
    steps: Steps,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    if (configHold === undefined || configHold.forced) return [];
    const { close, reopen } = configHold.nodes;
    // slurmctld must have read the new lines before a job may start there again.
    const wait = configHold.waiting === undefined ? untilRead(controller, now) : 0;
    const nodes = { close, reopen: wait > 0 ? [] : reopen };
    const { namespace, name } = controller.metadata;
    if (nodes.close.length + nodes.reopen.length > 0)
      await steps.run('drains of nodes in slurm.conf', () =>
        this.#survey.setNodes(namespace, name, nodes, signal),
      );
    return reopen.length === 0 ? [] : [Math.max(askAgain, wait)];
  }

  /** What is in force, and what Slurm would lose with the desired configuration. */
  async #evidence(observed: ObservedController, signal: AbortSignal, fresh = false): Promise<ConfigEvidence> {
    const { cache, client } = this.#manager;
    const { controller } = observed;
    const desired = controller.spec.external ? undefined : desiredSlurmConf(observed, this.#around);
    if (desired === undefined) return noEvidence;
    const hasAnswered = observed.cluster?.status?.slurmVersion !== undefined;
    return gatherEvidence({
      cache,
      client,
      survey: this.#survey,
      controller,
      desired,
      mayHavePartitions: hasAnswered && observed.pods.some((pod) => pod.running),
      fresh,
      signal,
    });
  }

  /** Any change of a pod makes its kubelet bring its files up to date at once. */
  async #tellWorkers(
    controller: Live<Controller>,
    { digest, workers }: ControllerPlan['tell'],
    steps: Steps,
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace } = controller.metadata;
    const patch = { metadata: { annotations: { [annotation.slurmKeyHash]: digest } } };
    const atOnce = 16;
    await steps.run('notification of workers about a new key', async () => {
      for (let from = 0; from < workers.length; from += atOnce)
        await Promise.all(
          workers.slice(from, from + atOnce).map(async (name) => {
            try {
              await this.#manager.client.mergePatch(pods, { namespace, name }, patch, { signal });
            } catch (error) {
              if (!(error instanceof NotFoundError)) throw error;
            }
          }),
        );
    });
  }

  /** Puts the configuration in force, or takes the next step of its trial. */
  async #enforce(
    run: TrialRun,
    steps: Steps,
    { signal, clock }: ReconcileContext,
  ): Promise<{ readonly enforced: boolean; readonly decision: TrialDecision }> {
    const { client, owned } = this.#manager;
    const { controller, plan, config } = run;
    const { namespace, name } = controller.metadata;
    const { configHash } = plan;
    let { decision } = plan;
    if (decision.kind === 'try') {
      const { start, remove } = decision;
      const toTry = decision;
      if (start.length + remove.length > 0)
        await steps.run('trial of the configuration', async () => {
          decision = await this.#trials.run(toTry, run, clock.now());
        });
      return { enforced: false, decision };
    }
    if (decision.kind === 'reject') return { enforced: false, decision };
    const written = await steps.run(`ConfigMap ${config.metadata.name}`, () =>
      owned.apply(configMaps, controller, config, { signal }),
    );
    if (!written) return { enforced: false, decision };
    this.#pace.wrote(`${namespace}/${name}`, configHash, clock.now());
    for (const pod of plan.touch)
      await steps.run(`Pod ${pod}`, () =>
        // Any change of a pod makes its kubelet look at its volumes at once, instead of in a minute or so.
        client.mergePatch(
          pods,
          { namespace, name: pod },
          { metadata: { annotations: { [configSeenAnnotation]: configHash } } },
          { signal },
        ),
      );
    for (const { name: pod, uid } of plan.restart)
      await steps.run(`Pod ${pod}`, () => client.delete(pods, { namespace, name: pod }, { uid, signal }));
    const { cleanUp } = decision;
    if (cleanUp.length > 0) await steps.run('pods of the trial', () => this.#trials.remove(cleanUp, run));
    return { enforced: true, decision };
  }
}
