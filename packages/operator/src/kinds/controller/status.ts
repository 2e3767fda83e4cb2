/** What a Controller says about itself. Pure. */
import { annotation, conditionType } from '@slurm-operator/api';
import type { StatusReport } from '../../framework/define-reconciler.ts';
import { type Condition, type Problem, summaryConditions } from '../../framework/status/conditions.ts';
import { podProblems } from '../../framework/status/pods.ts';
import { keysCondition } from '../../keys/keys-condition.ts';
import { clusterNameOf, controllerReplicas } from '../../objects/slurmctld-endpoints.ts';
import { describeRejection, describeUntried } from '../../slurm-config/trial/trial.ts';
import type { ObservedController } from './observe.ts';
import { describeHold, isOnlyRestart, type Waiting } from './plan/config-hold.ts';
import type { ControllerDecision } from './plan/decide.ts';
import { portAfter } from './plan/port-in-force.ts';
import { unusableVolume } from './unusable-volume.ts';

/**
 * Ready means: a slurmctld is active, whatever the standbys do. A standby is never ready in the eyes of Kubernetes,
 * because only the active one answers `/readyz`; one that does not run at all shows as Degraded.
 */
export function controllerStatus(
  observed: ObservedController,
  plan: Pick<
    ControllerDecision,
    | 'problems'
    | 'awaited'
    | 'configHash'
    | 'configHold'
    | 'decision'
    | 'desiredTrial'
    | 'keys'
    | 'keyRotation'
  > &
    Partial<Pick<ControllerDecision, 'config' | 'portBefore'>> & { readonly enforced?: string },
  failures: readonly Problem[],
): StatusReport {
  const { controller, cluster, pods } = observed;
  const { external } = controller.spec;
  const answering = pods.filter((pod) => pod.ready);
  // An old Slurm lets a standby look ready, too: then who is active is not known here, and not guessed.
  const active = answering.length === 1 ? answering[0] : undefined;
  const problems = [
    ...plan.problems,
    ...failures,
    ...(external ? [] : unusableVolume(observed)),
    ...(external ? [] : podProblems(pods, controller.metadata.namespace, 'No slurmctld is active.')),
    ...(external ? [] : missingStandby(observed)),
    ...(external ? [] : configProblems(observed, plan)),
    ...(observed.workersEnded === undefined ? [] : [observed.workersEnded]),
  ];
  const connected = connection(observed);
  const configInForce = plan.enforced ?? controller.status?.configHash;
  const config = configCondition(plan, configInForce, controller.metadata);
  const slurmctldPort = portAfter(plan.portBefore, plan.config, configInForce === plan.configHash);
  return {
    fields: {
      clusterName: clusterNameOf(controller),
      ...(cluster?.status?.slurmVersion === undefined ? {} : { slurmVersion: cluster.status.slurmVersion }),
      ...(external
        ? {}
        : {
            replicas: controllerReplicas(controller),
            readyReplicas: answering.length,
            ...(configInForce === undefined ? {} : { configHash: configInForce }),
            ...(slurmctldPort === undefined ? {} : { slurmctldPort }),
            ...(active === undefined ? {} : { activeController: active.name }),
            ...(plan.configHold?.waiting === undefined
              ? {}
              : { heldConfig: heldConfig(plan.configHold.waiting) }),
          }),
    },
    conditions: [
      ...summaryConditions(
        external && connected.status !== 'True'
          ? [...problems, { reason: connected.reason, message: connected.message }]
          : problems,
        external
          ? `Slurm at ${controller.spec.externalConfig?.host ?? ''} answers.`
          : `slurmctld responds in pod ${answering.map(({ name }) => name).join(' and ')}.`,
      ),
      connected,
      ...(external ? [] : [config, keys(observed, plan)]),
    ],
  };
}

/** slurmctld from its template, workers from what they were told; one that was never told has the key that it started with. */
function keys(
  { pods, workers }: ObservedController,
  { keys: wanted, keyRotation }: Pick<ControllerDecision, 'keys' | 'keyRotation'>,
): Condition {
  if (keyRotation?.waiting !== undefined)
    return {
      type: conditionType.keysCurrent,
      status: 'False',
      reason: 'KeyRotation',
      message: keyRotation.waiting,
    };
  return keysCondition(
    [
      ...pods,
      ...workers.map(({ name, told }) => ({
        name,
        annotations: { ...wanted, ...(told === undefined ? {} : { [annotation.slurmKeyHash]: told }) },
      })),
    ],
    wanted,
  );
}

/** Slurm works without a standby, until the day when it is needed. */
function missingStandby({ controller, pods, statefulSet }: ObservedController): Problem[] {
  const wanted = controllerReplicas(controller);
  const running = pods.filter((pod) => pod.running).length;
  if (running >= wanted || running === 0 || statefulSet.updating) return [];
  return [
    {
      reason: 'PodsNotReady',
      message: `${running} of ${wanted} slurmctld run: no standby is available for failover.`,
      stillReady: true,
    },
  ];
}

/** The old configuration is in force, and a user must act. */
function configProblems(
  { controller }: ObservedController,
  plan: Pick<ControllerDecision, 'decision' | 'configHash' | 'desiredTrial'>,
): Problem[] {
  const rejection = rejected(plan, controller.metadata);
  if (rejection !== undefined) return [{ reason: 'ConfigRejected', message: rejection, stillReady: true }];
  const message = untried(plan, controller.metadata);
  return message === undefined ? [] : [{ reason: 'ConfigUntried', message, stillReady: true }];
}

/** What slurmctld or a slurmd says of the configuration that may be put in force now, or of the whole desired one. */
function rejected(
  {
    decision,
    configHash,
    desiredTrial,
  }: Pick<ControllerDecision, 'decision' | 'configHash' | 'desiredTrial'>,
  controller: { readonly name: string; readonly namespace: string },
): string | undefined {
  if (decision.kind === 'reject') return describeRejection(decision, controller, configHash);
  return desiredTrial?.decision.kind === 'reject'
    ? describeRejection(desiredTrial.decision, controller, desiredTrial.digest)
    : undefined;
}

function untried(
  {
    decision,
    configHash,
    desiredTrial,
  }: Pick<ControllerDecision, 'decision' | 'configHash' | 'desiredTrial'>,
  controller: { readonly name: string; readonly namespace: string },
): string | undefined {
  return (
    describeUntried(decision, controller, configHash) ??
    (desiredTrial && describeUntried(desiredTrial.decision, controller, desiredTrial.digest))
  );
}

/** Taken over from the Cluster object, which the connection is kept in. */
function connection({ cluster }: ObservedController): Condition {
  const type = conditionType.slurmConnected;
  const ready = cluster?.status?.conditions?.find((one) => one.type === conditionType.slurmConnected);
  if (ready === undefined)
    return {
      type,
      status: 'Unknown',
      reason: 'Starting',
      message: 'The connection to Slurm has not been tried yet.',
    };
  return { type, status: ready.status, reason: ready.reason as Condition['reason'], message: ready.message };
}

/** Lists in a status are bounded; the condition counts what is left out. */
const mostItems = 64;

const heldConfig = ({ since, token, items }: Waiting) => ({
  since,
  token,
  items: items.slice(0, mostItems).map(({ jobs, ...item }) => ({
    ...item,
    runningJobs: jobs.active,
    pendingJobs: jobs.pending,
  })),
});

function configCondition(
  plan: Pick<ControllerDecision, 'decision' | 'desiredTrial' | 'configHash' | 'configHold' | 'awaited'>,
  inForce: string | undefined,
  controller: { readonly name: string; readonly namespace: string },
): Condition {
  const type = conditionType.configApplied;
  const { configHash, awaited, configHold } = plan;
  const rejection = rejected(plan, controller);
  if (rejection !== undefined) return { type, status: 'False', reason: 'ConfigRejected', message: rejection };
  if (awaited !== undefined) return { type, status: 'False', reason: 'AccountingStarting', message: awaited };
  const waits =
    configHold?.waiting === undefined || configHold.forced || isOnlyRestart(configHold.waiting)
      ? ''
      : describeHold(configHold.waiting, controller);
  const problem = untried(plan, controller);
  if (inForce === configHash && waits !== '' && problem !== undefined)
    return { type, status: 'False', reason: 'ConfigUntried', message: `${problem} ${waits}` };
  if (inForce === configHash && waits !== '')
    return { type, status: 'False', reason: 'ConfigHeld', message: waits };
  if (inForce === configHash)
    return {
      type,
      status: 'True',
      reason: 'Applied',
      message: 'slurmctld uses the desired configuration.',
    };
  if (problem !== undefined) return { type, status: 'False', reason: 'ConfigUntried', message: problem };
  return {
    type,
    status: 'False',
    reason: 'Reconfiguring',
    message: `The new configuration is being tried before slurmctld and the workers read it.${waits === '' ? '' : ` ${waits}`}`,
  };
}
