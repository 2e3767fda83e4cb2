/** What a Controller says about itself. Pure. */
import { annotation, conditionType } from '@slurm-operator/api';
import { type Trouble, type Verdict, verdicts } from '../../framework/status/judge.ts';
import { podTroubles } from '../../framework/status/pods.ts';
import { keysVerdict } from '../../keys/keys-verdict.ts';
import { clusterNameOf } from '../../objects/cluster-name.ts';
import { controllerReplicas } from '../../objects/slurmctld-endpoints.ts';
import { describeRejection, describeUntried } from '../../slurm-config/trial/trial.ts';
import { describeHold, type Waiting } from './config-hold.ts';
import type { ObservedController } from './observe.ts';
import type { ControllerPlan } from './plan.ts';
import { unusableVolume } from './unusable-volume.ts';

export interface ControllerStatusDraft {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly verdicts: readonly Verdict[];
}

/**
 * Ready means: a slurmctld is active, whatever the standbys do. A standby is never ready in the eyes of Kubernetes,
 * because only the active one answers `/readyz`; one that does not run at all shows as Degraded.
 */
export function controllerStatus(
  observed: ObservedController,
  plan: Pick<ControllerPlan, 'troubles' | 'awaited' | 'configHash' | 'configHold' | 'decision' | 'keys'> & {
    readonly enforced?: string;
  },
  failures: readonly Trouble[],
): ControllerStatusDraft {
  const { controller, cluster, pods } = observed;
  const { external } = controller.spec;
  const answering = pods.filter((pod) => pod.ready);
  // An old Slurm lets a standby look ready, too: then who is active is not known here, and not guessed.
  const active = answering.length === 1 ? answering[0] : undefined;
  const troubles = [
    ...plan.troubles,
    ...failures,
    ...(external ? [] : unusableVolume(observed)),
    ...(external ? [] : podTroubles(pods, controller.metadata.namespace, 'No slurmctld is active.')),
    ...(external ? [] : missingStandby(observed)),
    ...(external ? [] : untriedConfig(observed, plan)),
    ...(observed.workersEnded === undefined ? [] : [observed.workersEnded]),
  ];
  const connected = connection(observed);
  const configInForce = plan.enforced ?? controller.status?.configHash;
  const config = configVerdict(plan, configInForce, controller.metadata);
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
            ...(active === undefined ? {} : { activeController: active.name }),
            ...(plan.configHold?.waiting === undefined
              ? {}
              : { heldConfig: heldConfig(plan.configHold.waiting) }),
          }),
    },
    verdicts: [
      ...verdicts(
        external && connected.status !== 'True'
          ? [...troubles, { reason: connected.reason, message: connected.message }]
          : troubles,
        external
          ? `Slurm at ${controller.spec.externalConfig?.host ?? ''} answers.`
          : `slurmctld responds in pod ${answering.map(({ name }) => name).join(' and ')}.`,
      ),
      connected,
      ...(external ? [] : [config, keys(observed, plan.keys)]),
    ],
  };
}

/** slurmctld from its template, workers from what they were told; one that was never told has the key that it started with. */
function keys({ pods, workers }: ObservedController, wanted: ControllerPlan['keys']): Verdict {
  return keysVerdict(
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
function missingStandby({ controller, pods, statefulSet }: ObservedController): Trouble[] {
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

/** The old configuration does, and somebody has to look. */
function untriedConfig(
  { controller }: ObservedController,
  { decision, configHash }: Pick<ControllerPlan, 'decision' | 'configHash'>,
): Trouble[] {
  const message = describeUntried(decision, controller.metadata, configHash);
  return message === undefined ? [] : [{ reason: 'ConfigUntried', message, stillReady: true }];
}

/** Taken over from the Cluster object, which the connection is kept in. */
function connection({ cluster }: ObservedController): Verdict {
  const type = conditionType.slurmConnected;
  const ready = cluster?.status?.conditions?.find((one) => one.type === conditionType.slurmConnected);
  if (ready === undefined)
    return {
      type,
      status: 'Unknown',
      reason: 'Starting',
      message: 'The connection to Slurm has not been tried yet.',
    };
  return { type, status: ready.status, reason: ready.reason as Verdict['reason'], message: ready.message };
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

function configVerdict(
  {
    decision,
    configHash,
    awaited,
    configHold,
  }: Pick<ControllerPlan, 'decision' | 'configHash' | 'configHold' | 'awaited'>,
  inForce: string | undefined,
  controller: { readonly name: string; readonly namespace: string },
): Verdict {
  const type = conditionType.configApplied;
  if (decision.kind === 'reject')
    return {
      type,
      status: 'False',
      reason: 'ConfigRejected',
      message: describeRejection(decision, controller, configHash),
    };
  if (awaited !== undefined) return { type, status: 'False', reason: 'AccountingStarting', message: awaited };
  const waits =
    configHold?.waiting === undefined || configHold.forced
      ? ''
      : describeHold(configHold.waiting, controller);
  if (inForce === configHash && waits !== '')
    return { type, status: 'False', reason: 'ConfigHeld', message: waits };
  if (inForce === configHash)
    return {
      type,
      status: 'True',
      reason: 'Applied',
      message: 'slurmctld uses the desired configuration.',
    };
  const untried = describeUntried(decision, controller, configHash);
  if (untried !== undefined) return { type, status: 'False', reason: 'ConfigUntried', message: untried };
  return {
    type,
    status: 'False',
    reason: 'Reconfiguring',
    message: `The new configuration is being tried before slurmctld and the workers read it.${waits === '' ? '' : ` ${waits}`}`,
  };
}
