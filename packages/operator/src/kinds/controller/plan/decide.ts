/** What a Controller needs, as objects in the order in which they are made; and what stands in its way. Pure. */
import { annotation, type Cluster } from '@slurm-operator/api';
import type { ApplyIntent, ConfigMap, Service, StatefulSet } from '@slurm-operator/kube';
import type { Problem } from '../../../framework/status/conditions.ts';
import type { PodFacts } from '../../../framework/status/pods.ts';
import type { KeyRotation } from '../../../keys/key-rotation.ts';
import { digestOf } from '../../../objects/digest.ts';
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import { servesHttp } from '../../../objects/slurm-version.ts';
import { controllerReplicas } from '../../../objects/slurmctld-endpoints.ts';
import type { NodeClosing } from '../../../slurm-config/guard/slurm-work.ts';
import {
  buildControllerConfig,
  recordLines,
  withRecords,
  withVersion,
} from '../../../slurm-config/render/config-map.ts';
import { slurmSetName } from '../../../slurm-config/render/slurmd-conf.ts';
import { autoscaledPrefixes } from '../../../slurm-config/render/wait-for-nodes.ts';
import { decideTrial, skipToken, type TrialDecision } from '../../../slurm-config/trial/trial.ts';
import { distinctTrialWorkers } from '../../../slurm-config/trial/trial-worker.ts';
import { buildCluster } from '../objects/cluster.ts';
import { configSeenAnnotation } from '../objects/reconfigure.ts';
import { buildControllerServices } from '../objects/services.ts';
import { buildControllerStatefulSet, mountedConfigMaps } from '../objects/stateful-set.ts';
import type { ObservedController } from '../observe.ts';
import { asItMayBe } from './accounting-hold.ts';
import {
  type ConfigEvidence,
  type ConfigHold,
  describeHold,
  holdConfig,
  holdsEverything,
  isOnlyRestart,
  noEvidence,
  type Owners,
} from './config-hold.ts';
import { type DesiredTrial, needsDesiredTrial, nodesToClose } from './desired-trial.ts';
import { missing } from './missing.ts';
import { imageOf, render } from './render.ts';
import { type WantedRestart, wantRestart, withTemplateDigest } from './restart.ts';
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
  given: ObservedController,
  defaults: OperatorDefaults,
  { evidence, now, waitingRestart, earlierProlog = false }: DecisionContext = {
    evidence: noEvidence,
    now: 0,
  },
): ControllerDecision {
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
  const image = imageOf(observed, defaults);
  const rendered = render(observed, image, problems);
  for (const message of rendered?.complaints ?? [])
    problems.push({ reason: 'InvalidSpec', message, stillReady: true });
  if (controller.spec.metrics.enabled && !servesHttp(image))
    problems.push({
      reason: 'InvalidSpec',
      message: `spec.metrics.enabled is true, but metrics require Slurm 25.11 and ${image} is older: use a newer image, or set it to false.`,
      stillReady: true,
    });
  const wantedRestart = wantRestart({ ...given, keySet: observed.keySet }, defaults, waitingRestart, now);
  const configHold =
    rendered === undefined || controller.spec.external
      ? undefined
      : holdConfig({
          controller,
          desired: rendered.text,
          owners: ownersOf(observed),
          leaving: observed.leaving,
          expected: observed.expected,
          filesChanged: filesChanged(observed),
          restart: wantedRestart,
          earlierProlog,
          evidence,
          now,
        });
  const files = digestOf(observed.configMaps);
  const configOf = (slurmConf: string, nodeSets: Owners) => {
    const built = buildControllerConfig({
      controller,
      slurmConf,
      nodeSets,
      autoscaled: autoscaledPrefixes(observed.nodeSets),
      accounting: observed.accounting !== undefined,
      userCgroupConf: observed.configMaps.some(({ keys }) => keys?.['cgroup.conf'] !== undefined),
    });
    // Keys are not part of it: new ones restart slurmctld, and their files are no configuration.
    const digest = digestOf({ own: built.data, users: observed.configMaps });
    return { digest, built };
  };
  const made =
    rendered === undefined
      ? undefined
      : configOf(configHold?.text ?? rendered.text, configHold?.owners ?? {});
  // slurmctld reads its files when the version changes, and only then.
  const holdsFiles = holdsEverything(configHold) && filesChanged(observed);
  const configHash =
    (holdsFiles ? controller.status?.configHash : made?.digest) ??
    digestOf({ own: undefined, users: observed.configMaps });
  const config =
    made &&
    withRecords(
      withVersion(made.built, configHash, holdsFiles ? observed.filesInForce : files),
      recordLines(observed.nodeSets),
    );
  const runs = !controller.spec.external;
  const decide = (digest: string, trials = observed.trials): TrialDecision =>
    decideTrial({
      digest,
      // Elsewhere there is no slurmctld of ours that could be hurt.
      inForce: runs ? controller.status?.configHash : undefined,
      trials,
      groups: distinctTrialWorkers(observed.running),
      now,
      skip: controller.metadata.annotations?.[annotation.skipConfigTrial] === skipToken(digest),
    });
  // What may be put in force now goes first: the pods of two trials have the same names.
  const desired =
    rendered !== undefined && controller.status?.configHash === configHash && needsDesiredTrial(configHold)
      ? configOf(rendered.text, ownersOf(observed))
      : undefined;
  const desiredTrial = desired && {
    digest: desired.digest,
    config: withVersion(desired.built, desired.digest, files),
    decision: decide(desired.digest),
  };
  if (configHold?.waiting !== undefined && !configHold.forced && desiredTrial?.decision.kind !== 'reject')
    problems.push({
      reason: isOnlyRestart(configHold.waiting) ? 'RestartHeld' : 'ConfigHeld',
      message: describeHold(configHold.waiting, controller.metadata),
      passing: true,
      stillReady: true,
    });
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
    holdsFiles,
    decision: decide(
      configHash,
      // Those of the desired configuration have served only when that is in force.
      observed.trials.filter(({ digest }) => digest !== desired?.digest),
    ),
    desiredTrial,
    nodes: nodesToClose(configHold, desiredTrial),
    touch: unaware
      // One that lacks the files of the new configuration must not read it: its successor will.
      .filter((pod) => pod.waiting === undefined && !otherFiles && !isBeingReplaced(pod, observed))
      .map((pod) => pod.name),
    restart: observed.pods.filter(
      (pod) =>
        pod.waiting === 'CrashLoopBackOff' &&
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
    comparesTrial: observed.filesInForce === files,
  };
}

export const filesChanged = ({ configMaps, filesInForce }: ObservedController): boolean =>
  filesInForce !== digestOf(configMaps);

const ownersOf = ({ nodeSets }: ObservedController): Owners =>
  Object.fromEntries(nodeSets.map((set) => [slurmSetName(set), set.metadata.name]));

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
