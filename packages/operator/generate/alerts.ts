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
      'Running jobs continue; workers are not scaled, rolled or drained until it responds. Run: kubectl -n {{ $labels.namespace }} describe clusters.slinky.slurm.net {{ $labels.name }}',
  },
  {
    alert: 'SlurmObjectNotReady',
    expr: 'max by (kind, namespace, name) (slurm_operator_object_ready{kind!="Cluster"}) == 0',
    for: '15m',
    severity: 'warning',
    summary: '{{ $labels.kind }} {{ $labels.namespace }}/{{ $labels.name }} is not ready',
    description: 'Its conditions report why and what to do: run kubectl describe.',
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
    summary: 'NodeSet {{ $labels.namespace }}/{{ $labels.nodeset }} has fewer ready workers than desired',
    description:
      'Run kubectl describe for the NodeSet and its pods: an image, a node or a quota may be missing.',
  },
  {
    alert: 'SlurmDecisionsWithheld',
    expr: 'max by (namespace, nodeset) (slurm_operator_nodeset_decisions_withheld) > 0',
    for: '30m',
    severity: 'warning',
    summary: 'NodeSet {{ $labels.namespace }}/{{ $labels.nodeset }} waits for Slurm',
    description:
      'The operator deletes no worker whose state is unknown. Check the SlurmConnected condition of the Cluster.',
  },
  {
    alert: 'SlurmOperatorReconcileOverdue',
    expr: 'max by (pod, controller) (controller_runtime_overdue_reconciles) > 0',
    for: '5m',
    severity: 'warning',
    summary: 'A reconcile did not stop after its deadline ({{ $labels.controller }})',
    description:
      'That object is not reconciled until it stops; the log names its key. After ten minutes the operator fails /livez and is restarted.',
  },
  {
    alert: 'SlurmRolloutStuck',
    expr: 'min by (namespace, nodeset) (slurm_operator_nodeset_rollout_progress) < 1 and max by (namespace, nodeset) (changes(slurm_operator_nodeset_rollout_progress[2h])) == 0',
    for: '2h',
    severity: 'warning',
    summary: 'The rollout of NodeSet {{ $labels.namespace }}/{{ $labels.nodeset }} makes no progress',
    description:
      'It waits for running jobs, or its budget is used up by workers that are not ready: kubectl describe nodeset.',
  },
  {
    alert: 'SlurmAutoscaleProtected',
    expr: 'max by (namespace, nodeset) (slurm_operator_nodeset_autoscale_protected) > 0',
    for: '5m',
    severity: 'warning',
    summary: 'Wake-ups of NodeSet {{ $labels.namespace }}/{{ $labels.nodeset }} fail repeatedly',
    description:
      'Its sleeping nodes are offered to jobs every half hour only, until a worker starts. The condition Degraded of the NodeSet has the last reason: add Kubernetes nodes, or correct its image or its requests.',
  },
  {
    alert: 'SlurmWakeUpsFail',
    expr: 'sum by (namespace, nodeset) (increase(slurm_operator_nodeset_autoscale_wakeups_total{result="failed"}[30m])) > 0 unless sum by (namespace, nodeset) (increase(slurm_operator_nodeset_autoscale_wakeups_total{result="started"}[30m])) > 0',
    for: '15m',
    severity: 'warning',
    summary: 'No wake-up of NodeSet {{ $labels.namespace }}/{{ $labels.nodeset }} succeeded in half an hour',
    description:
      'Jobs are requeued, with the reason in their AdminComment (scontrol show job). Check for free Kubernetes nodes, quotas and the image.',
  },
  {
    alert: 'SlurmWakeUpsSlow',
    expr: 'histogram_quantile(0.9, sum by (namespace, nodeset, le) (rate(slurm_operator_nodeset_autoscale_wakeup_seconds_bucket{stage="total"}[1h]))) > 600',
    for: '30m',
    severity: 'warning',
    summary:
      'Workers of NodeSet {{ $labels.namespace }}/{{ $labels.nodeset }} take more than ten minutes to start',
    description:
      'Jobs wait for them. The panel "Stages of a wake-up" shows which stage takes the time: the Kubernetes node, the image, or slurmd.',
  },
  {
    alert: 'SlurmOperatorHasNoLeader',
    expr: 'sum(leader_election_master_status{name="slurm-operator"}) == 0',
    for: '5m',
    severity: 'critical',
    summary: 'No replica of the operator is the leader',
    description: 'Slurm keeps running, but nothing is scaled or repaired. Check the pods of the operator.',
  },
  {
    alert: 'SlurmOperatorReconcilesFail',
    expr: 'sum by (controller) (rate(controller_runtime_reconcile_errors_total[15m])) > 0.1',
    for: '30m',
    severity: 'warning',
    summary: 'Controller {{ $labels.controller }} fails repeatedly',
    description: 'See the log of the operator for the object and the error.',
  },
  {
    alert: 'SlurmOperatorQueueGrows',
    expr: 'max by (controller) (workqueue_depth) > 100',
    for: '15m',
    severity: 'warning',
    summary: 'Controller {{ $labels.controller }} does not keep up',
    description: 'Increase its workers (--<kind>-workers), or check for a slow API server.',
  },
  {
    alert: 'SlurmOperatorStalls',
    expr: 'max(nodejs_eventloop_lag_p99_seconds{job=~".*slurm-operator.*"}) > 1',
    for: '15m',
    severity: 'warning',
    summary: 'The event loop of the operator is blocked for seconds',
    description: 'It lacks CPU, or its code is slow: use --profile to find where the time is spent.',
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
