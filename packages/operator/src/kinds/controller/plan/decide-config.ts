/** The slurm.conf that a Controller should have, the part of it that may be put in force now, and its trials. Pure. */
import { annotation } from '@slurm-operator/api';
import type { ConfigMap } from '@slurm-operator/kube';
import type { Problem } from '../../../framework/status/conditions.ts';
import { digestOf } from '../../../objects/digest.ts';
import { servesHttp } from '../../../objects/slurm-version.ts';
import {
  buildControllerConfig,
  recordLines,
  withRecords,
  withVersion,
} from '../../../slurm-config/render/config-map.ts';
import { slurmSetName } from '../../../slurm-config/render/slurmd-conf.ts';
import { autoscaledPrefixes } from '../../../slurm-config/render/wait-for-nodes.ts';
import {
  decideTrial,
  describeUntried,
  skipToken,
  type TrialDecision,
} from '../../../slurm-config/trial/trial.ts';
import { distinctTrialWorkers } from '../../../slurm-config/trial/trial-worker.ts';
import type { ObservedController } from '../observe.ts';
import {
  type ConfigEvidence,
  type ConfigHold,
  describeHold,
  type HoldInput,
  holdConfig,
  holdsEverything,
  isOnlyRestart,
  type Owners,
  withReleasedJobs,
} from './config-hold.ts';
import { type DesiredTrial, needsDesiredTrial } from './desired-trial.ts';
import { render } from './render.ts';
import type { WantedRestart } from './restart.ts';

export interface ConfigDecision {
  readonly config: ConfigMap | undefined;
  /** What the files in /etc/slurm should be. */
  readonly configHash: string;
  /** The files of the site that are in force are older ones. */
  readonly holdsFiles: boolean;
  /** Digest of the files of the site. */
  readonly files: string;
  readonly configHold: ConfigHold | undefined;
  readonly decision: TrialDecision;
  readonly desiredTrial: DesiredTrial | undefined;
  readonly problems: readonly Problem[];
}

interface ConfigContext {
  readonly evidence: ConfigEvidence;
  readonly now: number;
  readonly wantedRestart: WantedRestart | undefined;
  readonly earlierProlog: boolean;
}

export function decideConfig(
  observed: ObservedController,
  image: string,
  { evidence, now, wantedRestart, earlierProlog }: ConfigContext,
): ConfigDecision {
  const { controller } = observed;
  const runs = !controller.spec.external;
  const problems: Problem[] = [];
  const rendered = render(observed, image, problems);
  for (const message of rendered?.complaints ?? [])
    problems.push({ reason: 'InvalidSpec', message, stillReady: true });
  if (controller.spec.metrics.enabled && !servesHttp(image))
    problems.push({
      reason: 'InvalidSpec',
      message: `spec.metrics.enabled is true, but metrics require Slurm 25.11 and ${image} is older: use a newer image, or set it to false.`,
      stillReady: true,
    });
  const holdInput: HoldInput | undefined =
    rendered === undefined || controller.spec.external
      ? undefined
      : {
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
        };
  const configHold = holdInput && holdConfig(holdInput);
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
  const decide = (digest: string, trials = observed.trials): TrialDecision =>
    decideTrial({
      digest,
      // Elsewhere there is no slurmctld of ours that could be hurt.
      inForce: runs && !isUnread(observed) ? controller.status?.configHash : undefined,
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
  const decision = decide(
    configHash,
    // Those of the desired configuration have served only when that is in force.
    observed.trials.filter(({ digest }) => digest !== desired?.digest),
  );
  const isRefused =
    decision.kind === 'reject' || describeUntried(decision, controller.metadata, configHash) !== undefined;
  return {
    config,
    configHash,
    holdsFiles,
    files,
    configHold: configHold && holdInput && isRefused ? withReleasedJobs(configHold, holdInput) : configHold,
    decision,
    desiredTrial,
    problems,
  };
}

export const filesChanged = ({ configMaps, filesInForce }: ObservedController): boolean =>
  filesInForce !== digestOf(configMaps);

const ownersOf = ({ nodeSets }: ObservedController): Owners =>
  Object.fromEntries(nodeSets.map((set) => [slurmSetName(set), set.metadata.name]));

/**
 * No daemon has read the configuration: the NodeSets of a new cluster come just after its Controller. slurmctld should find their partitions
 * when it starts, because it fails the pending jobs of an earlier life whose partition is missing.
 */
const isUnread = ({ cluster, pods, running }: ObservedController): boolean =>
  cluster?.status?.slurmVersion === undefined &&
  running.length === 0 &&
  pods.length > 0 &&
  pods.every((pod) => !pod.running && pod.restarts === 0 && pod.lostWith === undefined);
