/** Whether the desired objects restart slurmctld, so that the guard is asked before. Pure. */
import { covers, type StatefulSet, withoutUnset } from '@slurm-operator/kube';
import type { PodFacts } from '../../../framework/status/pods.ts';
import { digestOf } from '../../../objects/digest.ts';
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import { controllerReplicas } from '../../../objects/slurmctld-endpoints.ts';
import { buildControllerStatefulSet } from '../objects/stateful-set.ts';
import type { ObservedController } from '../observe.ts';
import { asItMayBe } from './accounting-hold.ts';
import { hashes, nextToRenew } from './slurmctld-pods.ts';

/** On the StatefulSet of slurmctld: a digest of the pod template that was applied last. A field that was removed shows only here. */
export const templateDigestAnnotation = 'controller.slinky.slurm.net/template-digest';

export type PodTemplate = NonNullable<StatefulSet['spec']>['template'];

/** A restart that is desired: names the template, and when it began to wait. */
export interface WantedRestart {
  readonly digest: string;
  readonly since: number;
}

/** The StatefulSet with a note of its template. */
export function withTemplateDigest(set: StatefulSet): StatefulSet {
  const annotations = { ...set.metadata.annotations, [templateDigestAnnotation]: templateDigest(set) };
  return { ...set, metadata: { ...set.metadata, annotations } };
}

const templateDigest = ({ spec }: StatefulSet): string => digestOf(withoutUnset(spec?.template));

/** `given` with the keys that are put in force now; `waiting`: the restart that was desired before. */
export function wantRestart(
  given: ObservedController,
  defaults: OperatorDefaults,
  waiting: WantedRestart | undefined,
  now: number,
): WantedRestart | undefined {
  const digest = restartOf(given, defaults);
  if (digest === undefined) return undefined;
  return waiting?.digest === digest ? waiting : { digest, since: now };
}

/** The digest of the template that slurmctld is to be restarted with; undefined where nothing that runs would be restarted. */
export function restartOf(given: ObservedController, defaults: OperatorDefaults): string | undefined {
  const { observed } = asItMayBe(given, defaults);
  const { controller, statefulSet, pods } = observed;
  if (controller.spec.external || !statefulSet.exists) return undefined;
  // What does not run has nothing more to lose, unless its state is in its pod. On a node that does not answer it may run.
  if (!pods.some((pod) => mayRun(pod) || keepsStateInPod(controller, pod))) return undefined;
  const desired = buildControllerStatefulSet({ controller, defaults, hashes: hashes(observed) });
  const digest = templateDigest(desired);
  // With standbys the operator itself recreates the pods; a standby has nothing to lose.
  const renew = nextToRenew(observed);
  // Where none is ready, any that runs may be the active one.
  const isActive =
    renew?.ready === true || controllerReplicas(controller) === 1 || !pods.some(({ ready }) => ready);
  if (renew?.running === true && isActive) return digest;
  // The last pod goes first when there are to be fewer, and may be the active one.
  if (controllerReplicas(controller) < statefulSet.replicas) return digest;
  const isRolled = controllerReplicas(controller) === 1;
  return isRolled && changesTemplate(statefulSet, desired, digest) ? digest : undefined;
}

export const mayRun = ({ running, lostWith }: Pick<PodFacts, 'running' | 'lostWith'>): boolean =>
  running || lostWith !== undefined;

/** Without a volume the state of a slurmctld goes with its pod, also while it does not run. */
export const keepsStateInPod = (
  { spec }: ObservedController['controller'],
  pod: Pick<PodFacts, 'running' | 'lostWith' | 'everStarted'>,
): boolean => !spec.persistence.enabled && (mayRun(pod) || pod.everStarted === true);

function changesTemplate(
  { template, templateDigest: noted }: ObservedController['statefulSet'],
  { spec }: StatefulSet,
  digest: string,
): boolean {
  if (template === undefined) return false;
  if (noted !== undefined && noted !== digest) return true;
  return !covers(template, withoutUnset(spec?.template));
}
