/**
 * The whole decision about a Controller: what is observed and remembered, and the time, in; actions in their order out. Pure: what is
 * decided is in `decide.ts`, here it becomes a list that can be printed instead of carried out.
 */
import type { Controller } from '@slurm-operator/api';
import { conditionType, label, resourceName } from '@slurm-operator/api';
import {
  type ConfigMap,
  configMaps,
  type Live,
  pods,
  type StatefulSet,
  services,
} from '@slurm-operator/kube';
import { clusters } from '../../../cache/resources.ts';
import { type Action, type CustomAction, type DeleteAction, titleOf } from '../../../framework/actions.ts';
import type { Plan } from '../../../framework/define-reconciler.ts';
import { planStatefulSet } from '../../../framework/plan-workload.ts';
import type { Problem } from '../../../framework/status/conditions.ts';
import type { KeySet } from '../../../keys/key-set.ts';
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import { specHints } from '../../../rules/findings.ts';
import { readConf } from '../../../slurm-config/guard/conf-content.ts';
import { mayRunProlog } from '../../../slurm-config/guard/guard-restart.ts';
import type { NodeClosing } from '../../../slurm-config/guard/slurm-work.ts';
import type { Trial, TrialDecision } from '../../../slurm-config/trial/trial.ts';
import { configSeenAnnotation, prologSeconds } from '../objects/reconfigure.ts';
import { monitorDigest } from '../objects/service-monitor.ts';
import type { ObservedController } from '../observe.ts';
import type { ConfigEvidence } from './config-hold.ts';
import { type ControllerDecision, decideController } from './decide.ts';
import {
  type ControllerMemory,
  type ControllerNote,
  pauseBefore,
  planResizes,
  withConfig,
  withRefusedSizes,
} from './memory.ts';
import { controllerFindings } from './missing.ts';
import { activeLabels, type KeyNotice } from './slurmctld-pods.ts';
import { awaitNodeSets, planStateNotes, type StateNote, withWrittenNotes } from './state-note.ts';
import type { Resize } from './state-volume.ts';
import { type WantedSecret, wantedKeys } from './wanted-keys.ts';

/** Everything that the plan depends on. */
export interface ControllerInput extends ObservedController {
  /** The configuration in force, and what Slurm would lose with the desired one. */
  readonly evidence: ConfigEvidence;
  readonly liveStatefulSet: Live<StatefulSet> | undefined;
  /** The ConfigMap of slurmctld exists. */
  readonly hasConfig: boolean;
  /** What could not be observed, and why the pods of slurmctld cannot be created. */
  readonly observationProblems: readonly Problem[];
  readonly memory: ControllerMemory;
}

export type ControllerAction = CustomAction &
  (
    | { readonly type: 'CreateKey'; readonly secret: WantedSecret }
    | { readonly type: 'WriteKeys'; readonly keySet: KeySet }
    | { readonly type: 'Change'; readonly nodes: NodeClosing }
    | {
        readonly type: 'Run';
        readonly decision: Extract<TrialDecision, { kind: 'try' }>;
        readonly config: ConfigMap;
        readonly digest: string;
      }
    | { readonly type: 'Send'; readonly notice: KeyNotice }
    | { readonly type: 'Resize'; readonly claim: Resize }
    | { readonly type: 'NoteState'; readonly state: StateNote }
    | { readonly type: 'Sync' }
  );

export interface ControllerPlan extends Plan<ControllerAction> {
  readonly decision: ControllerDecision;
  /** The action that puts the configuration in force, if this plan does. */
  readonly enforce: Action | undefined;
  readonly resizes: readonly Resize[];
  readonly hints: readonly string[];
  readonly monitor: string;
  readonly memory: ControllerMemory;
  readonly now: number;
}

/** While part of a configuration waits for jobs; the survey decides how often Slurm is really asked. */
const askAgain = 2_000;

/** As long as slurmctld may take from the write of a configuration until it has read it. */
const readWithin = 120_000;

/** The same, where it waits for jobs whose PrologSlurmctld runs. */
const prologOverWithin = readWithin + prologSeconds * 1000;

export function planController(
  input: ControllerInput,
  defaults: OperatorDefaults,
  now: number,
): ControllerPlan {
  const { controller, evidence, memory, liveStatefulSet, observationProblems } = input;
  const prologSeenAt = lastProlog(evidence, memory, now);
  const decision = decideController(input, defaults, {
    evidence,
    now,
    waitingRestart: memory.restart,
    earlierProlog: now < prologSeenAt + prologOverWithin,
  });
  const hints = specHints(controllerFindings(input));
  const { config, statefulSet, configHash } = decision;
  const nodeSetWait = awaitNodeSets(input, evidence, memory.awaited, now);
  const pause = Math.max(pauseBefore(configHash, memory, now), nodeSetWait.left);
  const mayEnforce = enforceAction(decision, pause);
  const inForce = mayEnforce === undefined ? textInForce(evidence) : config?.data?.['slurm.conf'];
  const notes = planStateNotes(input, inForce, evidence, memory.notes, now);
  // What slurmctld reads is noted before: with a crash in between the note has too much, never too little.
  const noteActions = notes.write.map(noteState);
  const enforce = mayEnforce && { ...mayEnforce, needs: noteActions.map(titleOf) };
  const needsEnforced = enforce === undefined ? [] : [titleOf(enforce)];
  const keys = writeKeys(controller, decision);
  const needsKeys = keys.map(titleOf);
  const resizes = planResizes(decision.resize, memory, now);
  const nodes = planNodes(controller, decision, now);
  const monitor = monitorDigest(controller);
  const trial = pause === 0 && config !== undefined ? trialAction(decision.decision, config, configHash) : [];
  const desired = decision.desiredTrial;
  return {
    actions: [
      ...wantedKeys(input).secrets.map(createKey),
      ...keys,
      ...nodes.actions,
      ...noteActions,
      ...decision.services.map((object): Action => ({ type: 'Apply', resource: services, object })),
      ...(enforce === undefined ? trial : [enforce, ...followConfig(decision, needsEnforced)]),
      ...(enforce === undefined || desired === undefined
        ? []
        : trialAction(desired.decision, desired.config, desired.digest, needsEnforced)),
      // First the workers, whose files take a moment to change: then slurmctld follows.
      ...notifyWorkers(decision, needsKeys),
      ...(statefulSet === undefined
        ? []
        : statefulSetActions(input, decision, statefulSet, needsEnforced, liveStatefulSet).map((action) => ({
            ...action,
            needs: [...(action.needs ?? []), ...needsKeys],
          }))),
      ...resizes.ask.map(
        (claim): ControllerAction => ({
          type: 'Resize',
          title: `PersistentVolumeClaim ${claim.name}`,
          claim,
        }),
      ),
      ...(decision.renew === undefined ? [] : [deletePod(controller, decision.renew)]),
      ...activeLabels(input.pods).map(
        ({ pod, value }): Action => ({
          type: 'Patch',
          resource: pods,
          ref: { namespace: controller.metadata.namespace, name: pod },
          body: { metadata: { labels: { [label.activeController]: value } } },
        }),
      ),
      ...(monitor === memory.monitor ? [] : [{ type: 'Sync', title: 'ServiceMonitor' } as const]),
      { type: 'Apply', resource: clusters, object: decision.cluster },
    ],
    problems: [
      ...nodeSetWait.problems,
      ...decision.problems,
      ...resizes.problems,
      ...notes.problems,
      ...observationProblems,
    ],
    lookAgainAt: earliest([
      ...(pause > 0 ? [now + pause] : []),
      ...trialTimes([decision.decision, desired?.decision], now),
      ...(decision.configHold?.waiting === undefined ? [] : [now + askAgain]),
      ...nodes.againAt,
      ...(decision.keyRotation?.againAt === undefined ? [] : [decision.keyRotation.againAt]),
      ...resizes.againAt,
      ...notes.againAt,
      ...(observationProblems.length === 0 ? [] : [now + readWithin]),
    ]),
    decision,
    enforce,
    resizes: resizes.ask,
    hints,
    monitor,
    memory: { ...memory, prologSeenAt, awaited: nodeSetWait.awaited },
    now,
  };
}

/** A note that is written while the first start still waits for NodeSets would say that their partitions are not needed. */
const textInForce = ({ inForce, keptState }: ConfigEvidence): string | undefined =>
  keptState === undefined ? inForce?.text : undefined;

/** When slurmctld may last have been told to run a PrologSlurmctld. Before an operator started it may have been. */
function lastProlog({ inForce }: ConfigEvidence, { prologSeenAt }: ControllerMemory, now: number): number {
  return inForce !== undefined && mayRunProlog(readConf(inForce.text)) ? now : (prologSeenAt ?? now);
}

/** What the next reconcile gets. */
export function rememberController(
  { memory, enforce, decision, hints, monitor, resizes, now }: ControllerPlan,
  notes: readonly ControllerNote[],
  succeeded: (action: object) => boolean,
): ControllerMemory {
  const isEnforced = enforce !== undefined && succeeded(enforce);
  const known = isEnforced ? withConfig(memory, decision.configHash, now) : memory;
  const isMonitored = notes.some((note) => note.type === 'monitor' && !note.isKindAbsent);
  return {
    ...withRefusedSizes(known, resizes, notes),
    notes: withWrittenNotes(
      memory.notes,
      notes.filter((note) => note.type === 'state-noted'),
    ),
    hints: hints.join('\n'),
    restart: decision.wantedRestart,
    ...(isMonitored ? { monitor } : {}),
  };
}

export const earliest = (times: readonly number[]): number | undefined =>
  times.length === 0 ? undefined : Math.min(...times);

/** Not before a moment has passed, whatever the trial says. */
export const trialTimes = (decisions: readonly (TrialDecision | undefined)[], now: number): number[] =>
  decisions.flatMap((one) =>
    one?.kind === 'try' && one.again !== undefined ? [Math.max(one.again, now + 1_000)] : [],
  );

const createKey = (secret: WantedSecret): ControllerAction => ({
  type: 'CreateKey',
  title: `Secret ${secret.name}`,
  secret,
});

const noteState = (state: StateNote): ControllerAction => ({
  type: 'NoteState',
  title: `note on PersistentVolumeClaim ${state.claim}`,
  state,
});

function enforceAction({ config, decision }: ControllerDecision, pause: number): Action | undefined {
  if (config === undefined || pause > 0 || decision.kind !== 'enforce') return undefined;
  return { type: 'Apply', resource: configMaps, object: config };
}

function trialAction(
  decision: TrialDecision,
  config: ConfigMap,
  digest: string,
  needs: readonly string[] = [],
): ControllerAction[] {
  if (decision.kind !== 'try' || decision.start.length + decision.remove.length === 0) return [];
  return [{ type: 'Run', title: 'trial of the configuration', decision, config, digest, needs }];
}

/** What a configuration that is in force needs next: slurmctld reads it, and the trial is cleaned up. */
function followConfig(
  { controller, touch, restart, decision, configHash }: ControllerDecision,
  needs: readonly string[],
): Action[] {
  const { namespace } = controller.metadata;
  const cleanUp = decision.kind === 'enforce' ? decision.cleanUp : [];
  return [
    // Any change of a pod makes its kubelet update its volumes at once, instead of in a minute or so.
    ...touch.map(
      (name): Action => ({
        type: 'Patch',
        resource: pods,
        ref: { namespace, name },
        body: { metadata: { annotations: { [configSeenAnnotation]: configHash } } },
        needs,
      }),
    ),
    ...restart.map((pod) => ({ ...deletePod(controller, pod), needs })),
    ...cleanUp.map((trial) => ({ ...deleteTrial(controller, trial), needs })),
  ];
}

const deletePod = (
  { metadata: { namespace } }: Live<Controller>,
  { name, uid }: { readonly name: string; readonly uid: string },
): DeleteAction => ({ type: 'Delete', resource: pods, ref: { namespace, name }, uid });

/** At once: it has nothing to save, and the kubelet of a lost node would never confirm its end. */
const deleteTrial = (controller: Live<Controller>, trial: Trial): Action => ({
  ...deletePod(controller, trial),
  gracePeriodSeconds: 0,
});

function writeKeys(
  { metadata }: Live<Controller>,
  { keyRotation }: ControllerDecision,
): Extract<ControllerAction, { type: 'WriteKeys' }>[] {
  if (keyRotation?.keySet === undefined || !keyRotation.write) return [];
  const title = `Secret ${resourceName.slurmKeys(metadata.name)}`;
  return [{ type: 'WriteKeys', title, keySet: keyRotation.keySet }];
}

function notifyWorkers({ tell }: ControllerDecision, needs: readonly string[]): ControllerAction[] {
  if (tell.workers.length === 0) return [];
  return [{ type: 'Send', title: 'notification of workers about a new key', notice: tell, needs }];
}

/** New files with the old slurm.conf are a configuration that was never tried. */
function statefulSetActions(
  { controller, hasConfig, statefulSet: observed }: ControllerInput,
  { needsConfig, holdsFiles }: ControllerDecision,
  desired: StatefulSet,
  needsEnforced: readonly string[],
  live: Live<StatefulSet> | undefined,
): Action[] {
  const isEnforced = needsEnforced.length > 0;
  if (needsConfig ? !isEnforced || holdsFiles : !(hasConfig || observed.exists || isEnforced)) return [];
  const needs = needsConfig || !(hasConfig || observed.exists) ? needsEnforced : [];
  return planStatefulSet(controller, live, desired).map((action) => ({
    ...action,
    needs,
  }));
}

/** Nodes whose line is removed or changes are drained first. */
function planNodes(
  controller: Live<Controller>,
  { configHold, nodes: { close, reopen } }: ControllerDecision,
  now: number,
): { readonly actions: readonly ControllerAction[]; readonly againAt: readonly number[] } {
  if (configHold === undefined || configHold.forced) return { actions: [], againAt: [] };
  // slurmctld must have read the new lines before a job may start there again.
  const wait = configHold.waiting === undefined ? untilRead(controller, now) : 0;
  const nodes = { close, reopen: wait > 0 ? [] : reopen };
  return {
    actions:
      nodes.close.length + nodes.reopen.length === 0
        ? []
        : [{ type: 'Change', title: 'drains of nodes in slurm.conf', nodes }],
    againAt: reopen.length === 0 ? [] : [now + Math.max(askAgain, wait)],
  };
}

/** Milliseconds until slurmctld has read the configuration in force for certain. */
function untilRead({ status }: Live<Controller>, now: number): number {
  const applied = status?.conditions?.find(({ type }) => type === conditionType.configApplied);
  if (applied?.status !== 'True') return readWithin;
  return Math.max(0, Date.parse(applied.lastTransitionTime) + readWithin - now);
}
