/** What a Controller needs, as objects in the order in which they are made; and what stands in its way. Pure. */
import { annotation, type Cluster } from '@slurm-operator/api';
import type { ApplyIntent, ConfigMap, Service, StatefulSet } from '@slurm-operator/kube';
import { digestBehind, refTroubles } from '../../cache/references.ts';
import type { Trouble } from '../../framework/status/judge.ts';
import type { PodFacts } from '../../framework/status/pods.ts';
import { clusterNameOf } from '../../objects/cluster-name.ts';
import { digestOf } from '../../objects/digest.ts';
import { servesHttp } from '../../objects/slurm-version.ts';
import { controllerReplicas } from '../../objects/slurmctld-endpoints.ts';
import type { Surroundings } from '../../objects/surroundings.ts';
import { type Finding, specTroubles } from '../../rules/findings.ts';
import { reservedFiles, specRules } from '../../rules/spec-rules.ts';
import type { RenderedConf } from '../../slurm-config/conf-file.ts';
import { UnsafeValueError } from '../../slurm-config/errors.ts';
import { buildControllerConfig, withVersion } from '../../slurm-config/render/config-map.ts';
import {
  buildExternalSlurmConf,
  buildSlurmConf,
  type Scripts,
} from '../../slurm-config/render/slurm-conf.ts';
import { slurmSetName } from '../../slurm-config/render/slurmd-conf.ts';
import { decideTrial, skipToken, type TrialDecision } from '../../slurm-config/trial/trial.ts';
import { distinctTrialWorkers } from '../../slurm-config/trial/trial-worker.ts';
import { accountingHold, accountingStart, type Hold } from './accounting-order.ts';
import { noEvidence } from './config-evidence.ts';
import {
  type ConfigEvidence,
  type ConfigHold,
  describeHold,
  holdConfig,
  type Owners,
} from './config-hold.ts';
import { buildCluster } from './objects/cluster.ts';
import { configSeenAnnotation } from './objects/reconfigure.ts';
import { buildControllerServices } from './objects/services.ts';
import { buildControllerStatefulSet, mountedConfigMaps } from './objects/stateful-set.ts';
import type { ObservedController } from './observe.ts';
import { planStateVolume, type Resize } from './state-volume.ts';
import { wantedKeys } from './wanted-keys.ts';

export interface ControllerPlan {
  /** The Controller as it may be for now: with the image that runs, while it waits for its Accounting. */
  readonly controller: ObservedController['controller'];
  readonly services: readonly Service[];
  readonly config: ConfigMap | undefined;
  readonly statefulSet: StatefulSet | undefined;
  /** The StatefulSet brings files or standbys that only fit to the new configuration: it must not come before that is in force. */
  readonly needsConfig: boolean;
  readonly cluster: ApplyIntent<Cluster>;
  /** What the files in /etc/slurm should be; pods that were not told of it are touched. */
  readonly configHash: string;
  readonly touch: readonly string[];
  /** Pods that wait ever longer before they try again: with a new configuration they should try at once. */
  readonly restart: readonly { readonly name: string; readonly uid: string }[];
  /** Workers that are to be told of a new key, and its digest. */
  readonly tell: { readonly digest: string; readonly workers: readonly string[] };
  /** The slurmctld whose turn it is to be made anew, where Kubernetes does not do that by itself. */
  readonly renew: PodFacts | undefined;
  /** What pods should have been started with: annotation → digest. */
  readonly keys: Readonly<Record<string, string>>;
  /** Claims of the state that are to be enlarged. */
  readonly resize: readonly Resize[];
  readonly troubles: readonly Trouble[];
  /** slurm.conf is not yet all that the specification asks for, and why. */
  readonly awaited: string | undefined;
  /** What of the desired slurm.conf waits, so that no job is lost. */
  readonly configHold: ConfigHold | undefined;
  readonly decision: TrialDecision;
  /** What fails in the trial is compared with the configuration in force, whose files are all known. */
  readonly comparesTrial: boolean;
}

/** slurm.conf as the specification asks for it, whatever that would cost; undefined while it cannot be rendered. */
export function desiredSlurmConf(given: ObservedController, around: Surroundings): string | undefined {
  const { observed } = asItMayBe(given, around);
  return render(observed, imageOf(observed, around), [])?.text;
}

/** The Controller with what waits for its Accounting left out. */
function asItMayBe(given: ObservedController, around: Surroundings) {
  const hold = holdOf(given, around);
  const start = startOf(given);
  const known = start === undefined ? given : withoutAccounting(given);
  return { hold, start, observed: hold === undefined ? known : withImageThatRuns(known) };
}

const imageOf = ({ controller }: ObservedController, around: Surroundings): string =>
  controller.spec.slurmctld?.image ?? around.images.slurmctld;

export function planController(
  given: ObservedController,
  around: Surroundings,
  { evidence, now }: { readonly evidence: ConfigEvidence; readonly now: number } = {
    evidence: noEvidence,
    now: 0,
  },
): ControllerPlan {
  const { hold, start, observed } = asItMayBe(given, around);
  const { controller } = observed;
  const troubles: Trouble[] = [...missing(observed)];
  if (hold !== undefined)
    troubles.push({ reason: 'AccountingOlder', ...hold, stillReady: given.statefulSet.exists });
  if (start !== undefined) troubles.push({ reason: 'AccountingStarting', ...start, stillReady: true });
  const image = imageOf(observed, around);
  const rendered = render(observed, image, troubles);
  for (const message of rendered?.complaints ?? [])
    troubles.push({ reason: 'InvalidSpec', message, stillReady: true });
  if (controller.spec.metrics.enabled && !servesHttp(image))
    troubles.push({
      reason: 'InvalidSpec',
      message: `spec.metrics.enabled is true, but metrics require Slurm 25.11 and ${image} is older: use a newer image, or set it to false.`,
      stillReady: true,
    });
  const configHold =
    rendered === undefined || controller.spec.external
      ? undefined
      : holdConfig({
          controller,
          desired: rendered.text,
          owners: ownersOf(observed),
          leaving: observed.leaving,
          expected: observed.expected,
          evidence,
          now,
        });
  if (configHold?.waiting !== undefined && !configHold.forced)
    troubles.push({
      reason: 'ConfigHeld',
      message: describeHold(configHold.waiting, controller.metadata),
      passing: true,
      stillReady: true,
    });
  const built =
    rendered === undefined
      ? undefined
      : buildControllerConfig({
          controller,
          slurmConf: configHold?.text ?? rendered.text,
          nodeSets: configHold?.owners ?? {},
          accounting: observed.accounting !== undefined,
          userCgroupConf: observed.configMaps.some(({ keys }) => keys?.['cgroup.conf'] !== undefined),
        });
  // Keys are not part of it: new ones restart slurmctld, and their files are no configuration.
  const configHash = digestOf({ own: built?.data, users: observed.configMaps });
  const files = digestOf(observed.configMaps);
  const config = built === undefined ? undefined : withVersion(built, configHash, files);
  const runs = !controller.spec.external;
  // Without a configuration, or with files missing, a pod would only hang or crash; a running one stays as it is.
  const statefulSet =
    runs && config !== undefined && (observed.statefulSet.exists || troubles.every(isHarmless))
      ? buildControllerStatefulSet({ controller, around, hashes: hashes(observed) })
      : undefined;
  const { resize, troubles: ofVolume } = planStateVolume(
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
    decision: decideTrial({
      digest: configHash,
      // Elsewhere there is no slurmctld of ours that could be hurt.
      inForce: runs ? controller.status?.configHash : undefined,
      trials: observed.trials,
      groups: distinctTrialWorkers(observed.running),
      now,
      skip: controller.metadata.annotations?.[annotation.skipConfigTrial] === skipToken(configHash),
    }),
    touch: unaware
      // One that lacks the files of the new configuration must not read it: its successor will.
      .filter((pod) => pod.waiting === undefined && !otherFiles && !isBeingReplaced(pod, observed))
      .map((pod) => pod.name),
    restart: unaware.filter((pod) => pod.waiting === 'CrashLoopBackOff'),
    tell: tell(observed),
    renew: runs ? nextToRenew(observed) : undefined,
    keys: {
      [annotation.slurmKeyHash]: hashes(observed).slurmKey,
      [annotation.jwtKeyHash]: hashes(observed).jwtKey,
    },
    resize,
    troubles: [...troubles, ...ofVolume],
    awaited: start?.message,
    configHold,
    comparesTrial: observed.filesInForce === files,
  };
}

const ownersOf = ({ nodeSets }: ObservedController): Owners =>
  Object.fromEntries(nodeSets.map((set) => [slurmSetName(set), set.metadata.name]));

function startOf({ controller, accounting, withoutAccounting: without, slurmdbd }: ObservedController) {
  if (controller.spec.external || accounting === undefined || accounting.spec.external) return undefined;
  return accountingStart({ without, slurmdbd: { ...slurmdbd, name: accounting.metadata.name } });
}

/** As if it had asked for none: everything else about its configuration may change meanwhile. */
function withoutAccounting(observed: ObservedController): ObservedController {
  const { controller } = observed;
  const { accountingRef: _, ...spec } = controller.spec;
  return { ...observed, accounting: undefined, controller: { ...controller, spec } };
}

function holdOf(
  { controller, accounting, statefulSet, slurmdbd }: ObservedController,
  { images }: Surroundings,
): Hold | undefined {
  if (controller.spec.external || accounting === undefined || accounting.spec.external) return undefined;
  return accountingHold({
    wanted: controller.spec.slurmctld?.image ?? images.slurmctld,
    slurmctld: statefulSet,
    slurmdbd: {
      ...slurmdbd,
      name: accounting.metadata.name,
      wanted: accounting.spec.slurmdbd?.image ?? images.slurmdbd,
    },
  });
}

/** Everything else about it may change meanwhile. */
function withImageThatRuns(observed: ObservedController): ObservedController {
  const { controller, statefulSet } = observed;
  if (statefulSet.image === undefined) return observed;
  const slurmctld = { ...controller.spec.slurmctld, image: statefulSet.image };
  return { ...observed, controller: { ...controller, spec: { ...controller.spec, slurmctld } } };
}

/** Kubernetes puts another pod in its place, or is about to find out that it has to. */
function isBeingReplaced(pod: PodFacts, { controller, statefulSet }: ObservedController): boolean {
  return (
    controllerReplicas(controller) === 1 &&
    pod.revision !== undefined &&
    statefulSet.exists &&
    pod.revision !== statefulSet.revision
  );
}

/**
 * While slurmctld changes its key, or after it did, workers that were told of another one are told. Those that were never told of
 * any have the key that was there when they started.
 */
function tell(observed: ObservedController): ControllerPlan['tell'] {
  const { statefulSet, workers } = observed;
  const digest = hashes(observed).slurmKey;
  const changing = statefulSet.slurmKey !== undefined && statefulSet.slurmKey !== digest;
  const behind = workers.filter(({ told }) => (told === undefined ? changing : told !== digest));
  return { digest, workers: digest === '' ? [] : behind.map(({ name }) => name) };
}

/**
 * With standbys Kubernetes does not roll the pods: it would wait for a standby to become ready, which none ever does. One after the
 * other, the active one last, and that only when somebody else runs who can take over meanwhile.
 */
function nextToRenew({ controller, pods, statefulSet }: ObservedController): PodFacts | undefined {
  const { revision } = statefulSet;
  if (revision === undefined) return undefined;
  const old = pods.filter((pod) => pod.revision !== revision && pod.lostWith === undefined);
  // Kubernetes replaces the only one itself, unless it is broken: since 1.35 it waits for a pod that is not available to recover.
  if (controllerReplicas(controller) === 1)
    return old.find((pod) => !pod.running && pod.waiting !== undefined);
  const standby = old.find((pod) => !pod.ready);
  if (standby !== undefined) return standby;
  const allRun = pods.length === controllerReplicas(controller) && pods.every((pod) => pod.running);
  return allRun ? old.at(0) : undefined;
}

/** Troubles that do not keep slurmctld from running. */
const isHarmless = ({ reason }: Trouble): boolean =>
  reason === 'AccountingNotFound' || reason === 'InvalidSpec' || reason === 'ConfigHeld';

function render(observed: ObservedController, image: string, troubles: Trouble[]): RenderedConf | undefined {
  const { controller, accounting, nodeSets } = observed;
  // A file of the user's with that name would take the place of ours in the pod, untried.
  if (observed.configMaps.some(({ keys }) => reservedFiles.some((file) => keys?.[file] !== undefined)))
    return undefined;
  // Dropping accounting because its object is missing for a moment would make slurmctld forget it.
  if (controller.spec.accountingRef?.name && accounting === undefined) return undefined;
  try {
    return controller.spec.external
      ? buildExternalSlurmConf({ controller, accounting })
      : buildSlurmConf({
          controller,
          accounting,
          nodeSets,
          leavingWorkers: observed.leaving.reduce((sum, { workers }) => sum + workers, 0),
          scripts: scriptsOf(observed),
          image,
        });
  } catch (error) {
    if (!(error instanceof UnsafeValueError)) throw error;
    troubles.push({ reason: 'InvalidSpec', message: error.message });
    return undefined;
  }
}

function scriptsOf({ controller, configMaps }: ObservedController): Scripts {
  const files = (refs: readonly { readonly name: string }[] | null | undefined): string[] =>
    (refs ?? []).flatMap(({ name }) => Object.keys(configMaps.find((map) => map.name === name)?.keys ?? {}));
  const { spec } = controller;
  return {
    prolog: files(spec.prologScriptRefs),
    epilog: files(spec.epilogScriptRefs),
    prologSlurmctld: files(spec.prologSlurmctldScriptRefs),
    epilogSlurmctld: files(spec.epilogSlurmctldScriptRefs),
  };
}

/** What the webhook would say of this Controller. */
export function controllerFindings({
  controller,
  configMaps,
  claimModes,
}: ObservedController): readonly Finding[] {
  const keysOf = (map: string) => configMaps.find(({ name }) => name === map)?.keys;
  return specRules.Controller(controller, {
    configMapKeys: (name) => {
      const keys = keysOf(name);
      return keys && Object.keys(keys);
    },
    claimModes: () => claimModes,
    hasController: () => true,
    nodeSets: () => [],
  });
}

function missing(observed: ObservedController): Trouble[] {
  const { controller, accounting } = observed;
  const { slurmKeyRef, jwtKeyRef, jwtHs256KeyRef, jwksKeyRef, accountingRef } = controller.spec;
  const { namespace } = controller.metadata;
  const jwt = jwtKeyRef === undefined ? 'jwtHs256KeyRef' : 'jwtKeyRef';
  const troubles = [
    ...wantedKeys(observed).troubles,
    ...refTroubles('Secret', 'slurmKeyRef', slurmKeyRef, observed.secrets, namespace),
    ...refTroubles('Secret', jwt, jwtKeyRef ?? jwtHs256KeyRef, observed.secrets, namespace),
    ...refTroubles('ConfigMap', 'jwksKeyRef', jwksKeyRef, observed.configMaps, namespace),
  ];
  troubles.push(...specTroubles(controllerFindings(observed)));
  // Of ConfigMaps with configuration files the rules have spoken; these hold scripts.
  const files = new Set(controller.spec.configFileRefs?.map(({ name }) => name));
  for (const { name, keys } of observed.configMaps)
    if (keys === undefined && name !== jwksKeyRef?.name && !files.has(name))
      troubles.push({
        reason: 'ConfigMapNotFound',
        message: `the specification refers to ConfigMap ${name}, which does not exist in namespace ${namespace}: create it.`,
      });
  for (const { name, keys } of observed.configMaps)
    for (const reservedFile of reservedFiles)
      if (keys?.[reservedFile] !== undefined && !files.has(name))
        troubles.push({
          reason: 'InvalidSpec',
          message: `ConfigMap ${name} contains ${reservedFile}, which the operator writes: put your lines into extraConf.`,
        });
  if (accountingRef?.name && accounting === undefined)
    troubles.push({
      reason: 'AccountingNotFound',
      message: `spec.accountingRef.name is "${accountingRef.name}"; no such Accounting exists in namespace ${namespace}: create it, or correct the name. The configuration does not change until then.`,
    });
  return troubles;
}

/** What a running slurmctld cannot take over by reading its files again. */
function hashes({ controller, secrets }: ObservedController) {
  const { slurmKeyRef, jwtKeyRef, jwtHs256KeyRef } = controller.spec;
  return {
    slurmKey: digestBehind(secrets, slurmKeyRef),
    jwtKey: digestBehind(secrets, jwtKeyRef ?? jwtHs256KeyRef),
    restart: digestOf({ clusterName: clusterNameOf(controller) }),
  };
}
