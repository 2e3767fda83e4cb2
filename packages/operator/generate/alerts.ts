/** Alerts for Prometheus. Each says what it means for users and what to look at first. */

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
  readonly description: string;
}

const alerts: readonly Alert[] = [
  {
    alert: 'SlurmClusterNotReady',
    expr: 'max by (namespace, name) (slurm_operator_object_ready{kind="Cluster"}) == 0',
    for: '10m',
    severity: 'critical',
    summary: 'Slurm of cluster {{ $labels.namespace }}/{{ $labels.name }} cannot be reached',
    description:
      'Running jobs go on; workers are not scaled, rolled or drained until it answers. Run: kubectl -n {{ $labels.namespace }} describe clusters.slinky.slurm.net {{ $labels.name }}',
  },
  {
    alert: 'SlurmObjectNotReady',
    expr: 'max by (kind, namespace, name) (slurm_operator_object_ready{kind!="Cluster"}) == 0',
    for: '15m',
    severity: 'warning',
    summary: '{{ $labels.kind }} {{ $labels.namespace }}/{{ $labels.name }} is not ready',
    description: 'Its conditions say why and what to do: kubectl describe.',
  },
  {
    alert: 'SlurmNodesDown',
    expr: 'max by (namespace, cluster) (slurm_operator_cluster_nodes{state="down"}) > 0',
    for: '15m',
    severity: 'warning',
    summary: '{{ $value }} Slurm nodes of {{ $labels.namespace }}/{{ $labels.cluster }} are down',
    description: 'Run sinfo -R on a login node for the reasons.',
  },
  {
    alert: 'SlurmWorkersMissing',
    expr: 'max by (namespace, nodeset) (slurm_operator_nodeset_desired) > max by (namespace, nodeset) (slurm_operator_nodeset_ready)',
    for: '30m',
    severity: 'warning',
    summary: 'NodeSet {{ $labels.namespace }}/{{ $labels.nodeset }} has fewer ready workers than wanted',
    description: 'kubectl describe nodeset, then its pods: an image, a machine or a quota may be missing.',
  },
  {
    alert: 'SlurmDecisionsWithheld',
    expr: 'max by (namespace, nodeset) (slurm_operator_nodeset_decisions_withheld) > 0',
    for: '30m',
    severity: 'warning',
    summary: 'NodeSet {{ $labels.namespace }}/{{ $labels.nodeset }} waits for Slurm',
    description:
      'The operator deletes no worker whose state it does not know. Look at the SlurmConnected condition of the Cluster.',
  },
  {
    alert: 'SlurmOperatorReconcileOverdue',
    expr: 'max by (pod, controller) (controller_runtime_overdue_reconciles) > 0',
    for: '5m',
    severity: 'warning',
    summary: 'The operator has not ended its work on an object in time ({{ $labels.controller }})',
    description:
      'Nothing is done about that object until it ends; the log names its key. After ten minutes the operator fails /livez and is started again.',
  },
  {
    alert: 'SlurmRolloutStuck',
    expr: 'min by (namespace, nodeset) (slurm_operator_nodeset_rollout_progress) < 1 and max by (namespace, nodeset) (changes(slurm_operator_nodeset_rollout_progress[2h])) == 0',
    for: '2h',
    severity: 'warning',
    summary: 'The rollout of NodeSet {{ $labels.namespace }}/{{ $labels.nodeset }} stands still',
    description:
      'It waits for running jobs, or its budget is used up by workers that are not ready: kubectl describe nodeset.',
  },
  {
    alert: 'SlurmOperatorHasNoLeader',
    expr: 'sum(leader_election_master_status{name="slurm-operator"}) == 0',
    for: '5m',
    severity: 'critical',
    summary: 'No replica of the operator leads',
    description: 'Slurm goes on by itself; nothing is scaled or repaired. Look at the pods of the operator.',
  },
  {
    alert: 'SlurmOperatorReconcilesFail',
    expr: 'sum by (controller) (rate(controller_runtime_reconcile_errors_total[15m])) > 0.1',
    for: '30m',
    severity: 'warning',
    summary: 'Controller {{ $labels.controller }} fails again and again',
    description: 'The log of the operator names the object and the error.',
  },
  {
    alert: 'SlurmOperatorQueueGrows',
    expr: 'max by (controller) (workqueue_depth) > 100',
    for: '15m',
    severity: 'warning',
    summary: 'Controller {{ $labels.controller }} does not keep up',
    description: 'Give it more workers (--<kind>-workers), or look for an API server that is slow.',
  },
  {
    alert: 'SlurmOperatorStalls',
    expr: 'max(nodejs_eventloop_lag_p99_seconds{job=~".*slurm-operator.*"}) > 1',
    for: '15m',
    severity: 'warning',
    summary: 'The operator stands still for seconds at a time',
    description: 'It is short of CPU, or something in it is slow: --profile shows where the time goes.',
  },
];

/** A rules file as Prometheus reads it; it is also the spec of a PrometheusRule. */
export function alertRules(): object {
  return {
    groups: [
      {
        name: 'slurm-operator',
        rules: alerts.map(({ severity, summary, description, ...rule }) => ({
          ...rule,
          labels: { severity },
          annotations: { summary, description },
        })),
      },
    ],
  };
}

export const alertQueries = (): string[] => alerts.map(({ expr }) => expr);
