/** What a Controller needs, as objects in the order in which they are made; and what stands in its way. Pure. */
import type { Cluster } from '@slurm-operator/api';
import type { ApplyIntent, ConfigMap, Service, StatefulSet } from '@slurm-operator/kube';
import type { Problem } from '../../../framework/status/conditions.ts';
import type { PodFacts } from '../../../framework/status/pods.ts';
import type { KeyRotation } from '../../../keys/key-rotation.ts';
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import { controllerReplicas } from '../../../objects/slurmctld-endpoints.ts';
import type { NodeClosing } from '../../../slurm-config/guard/slurm-work.ts';
import type { TrialDecision } from '../../../slurm-config/trial/trial.ts';
import { buildCluster } from '../objects/cluster.ts';
import { configSeenAnnotation } from '../objects/reconfigure.ts';
import { buildControllerServices } from '../objects/services.ts';
import { buildControllerStatefulSet, mountedConfigMaps } from '../objects/stateful-set.ts';
import type { ObservedController } from '../observe.ts';
import { asItMayBe } from './accounting-hold.ts';
import { type ConfigEvidence, type ConfigHold, noEvidence } from './config-hold.ts';
import { decideConfig } from './decide-config.ts';
import { type DesiredTrial, nodesToClose } from './desired-trial.ts';
import { missing } from './missing.ts';
import { withPortInForce } from './port-in-force.ts';
import { imageOf } from './render.ts';
import { keepsStateInPod, type WantedRestart, wantRestart, withTemplateDigest } from './restart.ts';
import {
  decideKeys,
  desiredKeys,
  failedWithoutAccounting,
  hashes,
  isBeingReplaced,
  type KeyNotice,
  keyNotice,
  nextToRenew,
} from './slurmctld-pods.ts';
import { planStateVolume, type Resize } from './state-volume.ts';

export interface ControllerDecision {
  /** The Controller as it may be for now: with the image that runs, while it waits for its Accounting. */
  readonly controller: ObservedController['controller'];
  readonly services: readonly Service[];
  readonly config: ConfigMap | undefined;
  readonly statefulSet: StatefulSet | undefined;
  /** The StatefulSet brings files or standbys that only fit to the new configuration: it must not come before that is in force. */
  readonly needsConfig: boolean;
  /** The files of the site that are in force are older ones. */
  readonly holdsFiles: boolean;
  readonly cluster: ApplyIntent<Cluster>;
  /** What the files in /etc/slurm should be; pods without it are touched. */
  readonly configHash: string;
  readonly touch: readonly string[];
  /** Pods that wait ever longer before they try again, and what they failed for is different now: they should try at once. */
  readonly restart: readonly { readonly name: string; readonly uid: string }[];
  /** Workers that are notified about a new key, and its digest. */
  readonly tell: KeyNotice;
  /** The slurmctld pod to recreate next, where Kubernetes does not do that. */
  readonly renew: PodFacts | undefined;
  /** The change of slurm.key; undefined where slurmctld runs elsewhere. */
  readonly keyRotation: KeyRotation | undefined;
  /** What pods should have been started with: annotation → digest. */
  readonly keys: Readonly<Record<string, string>>;
  /** Claims of the state that are to be enlarged. */
  readonly resize: readonly Resize[];
  readonly problems: readonly Problem[];
  /** slurm.conf is not yet all that the specification asks for, and why. */
  readonly awaited: string | undefined;
  /** What of the desired slurm.conf waits, so that no job is lost. */
  readonly configHold: ConfigHold | undefined;
  readonly decision: TrialDecision;
  /** The trial of everything that is desired, while part of it is held. */
  readonly desiredTrial: DesiredTrial | undefined;
  /** Nodes of slurm.conf that are to be drained now, and those whose drain may end. */
  readonly nodes: NodeClosing;
  /** A restart of slurmctld that this decision leads to, or that waits. */
  readonly wantedRestart: WantedRestart | undefined;
  /** Where slurmctld listens until this configuration is in force. */
  readonly portBefore?: number | undefined;
  /** What fails in the trial is compared with the configuration in force, whose files are all known. */
  readonly comparesTrial: boolean;
}

export interface DecisionContext {
  readonly evidence: ConfigEvidence;
  readonly now: number;
  /** The restart that the last decision wanted. */
  readonly waitingRestart?: WantedRestart | undefined;
  /** slurmctld may still use an earlier configuration, with a PrologSlurmctld. */
  readonly earlierProlog?: boolean;
}

export function decideController(
  observedNow: ObservedController,
  defaults: OperatorDefaults,
  { evidence, now, waitingRestart, earlierProlog = false }: DecisionContext = {
    evidence: noEvidence,
    now: 0,
  },
): ControllerDecision {
  const given = withPortInForce(observedNow, evidence);
  const asItMay = asItMayBe(given, defaults);
  const { hold, start } = asItMay;
  const { controller } = asItMay.observed;
  const keyRotation = controller.spec.external
    ? undefined
    : decideKeys(asItMay.observed, defaults.keyStepPeriod, now);
  // What follows is for the keys that this plan puts in force.
  const observed = { ...asItMay.observed, keySet: keyRotation?.keySet };
  const problems: Problem[] = [...missing(observed)];
  if (hold !== undefined)
    problems.push({ reason: 'AccountingOlder', ...hold, stillReady: given.statefulSet.exists });
  if (start !== undefined) problems.push({ reason: 'AccountingStarting', ...start, stillReady: true });
  const wantedRestart = wantRestart({ ...given, keySet: observed.keySet }, defaults, waitingRestart, now);
  const ofConfig = decideConfig(observed, imageOf(observed, defaults), {
    evidence,
    now,
    wantedRestart,
    earlierProlog,
  });
  problems.push(...ofConfig.problems);
  const { config, configHash, configHold, desiredTrial } = ofConfig;
  const runs = !controller.spec.external;
  // Without a configuration, or with files missing, a pod would only hang or crash; a running one stays as it is.
  const statefulSet =
    runs &&
    config !== undefined &&
    (observed.statefulSet.exists ? mayRestart(observed, configHold) : problems.every(isHarmless))
      ? withTemplateDigest(buildControllerStatefulSet({ controller, defaults, hashes: hashes(observed) }))
      : undefined;
  const { resize, problems: ofVolume } = planStateVolume(
    statefulSet?.spec?.volumeClaimTemplates?.at(0)?.spec,
    observed.volume,
  );
  const otherFiles =
    statefulSet !== undefined &&
    observed.statefulSet.exists &&
    mountedConfigMaps(statefulSet).join() !== observed.statefulSet.files.join();
  const unaware =
    config === undefined
      ? []
      : observed.pods.filter(
          (pod) => pod.annotations[configSeenAnnotation] !== configHash && pod.lostWith === undefined,
        );
  return {
    controller,
    services: runs ? buildControllerServices(controller) : [],
    config,
    statefulSet,
    // A standby that the slurm.conf in force does not name ends at once, again and again.
    needsConfig:
      otherFiles ||
      (observed.statefulSet.exists && controllerReplicas(controller) > observed.statefulSet.replicas),
    cluster: buildCluster(controller),
    configHash,
    holdsFiles: ofConfig.holdsFiles,
    decision: ofConfig.decision,
    desiredTrial,
    nodes: nodesToClose(configHold, desiredTrial),
    touch: unaware
      // One that lacks the files of the new configuration must not read it: its successor will.
      .filter((pod) => pod.waiting === undefined && !otherFiles && !isBeingReplaced(pod, observed))
      .map((pod) => pod.name),
    restart: observed.pods.filter(
      (pod) =>
        pod.waiting === 'CrashLoopBackOff' &&
        !keepsStateInPod(controller, pod) &&
        (unaware.includes(pod) || failedWithoutAccounting(pod, observed)),
    ),
    tell: keyNotice(observed),
    renew:
      runs && (wantedRestart === undefined || mayRestart(observed, configHold))
        ? nextToRenew(observed)
        : undefined,
    keys: desiredKeys(observed),
    keyRotation,
    resize,
    problems: [...problems, ...ofVolume],
    awaited: start?.message,
    configHold,
    wantedRestart,
    portBefore: controller.status?.slurmctldPort,
    comparesTrial: observed.filesInForce === ofConfig.files,
  };
}

/** Problems that do not keep slurmctld from running. */
const isHarmless = ({ reason }: Problem): boolean =>
  reason === 'AccountingNotFound' ||
  reason === 'InvalidSpec' ||
  reason === 'ConfigHeld' ||
  reason === 'RestartHeld';

/** A Secret that is away for a moment is no new key: the successor of a running slurmctld could not start without it. */
function mayRestart(observed: ObservedController, configHold: ConfigHold | undefined): boolean {
  const { slurmKey, jwtKey } = hashes(observed);
  const costsJobs = configHold?.holds.some(({ byRestart }) => byRestart === true);
  return slurmKey !== '' && jwtKey !== '' && costsJobs !== true;
}
