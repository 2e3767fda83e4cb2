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
    alert: 'SlurmNodesDrainedLong',
    expr: 'count by (namespace, cluster, class) (slurm_operator_node_out_of_service_seconds{state=~"drained|draining",class!="autoscale"} > 86400) > 0',
    for: '15m',
    severity: 'warning',
    summary:
      '{{ $value }} Slurm nodes of {{ $labels.namespace }}/{{ $labels.cluster }} have been drained for more than a day ({{ $labels.class }})',
    description:
      'Run sinfo -R for the reasons. The operator ends its own drains; others stay until someone runs scontrol update nodename=NODE state=resume.',
  },
  {
    alert: 'SlurmChecksDrainManyNodes',
    expr: 'sum by (namespace, cluster) (slurm_operator_nodes_drained{class=~"health-check|node-condition"}) > 0.2 * count by (namespace, cluster) (slurm_operator_node_state)',
    for: '5m',
    severity: 'critical',
    summary:
      'Checks have drained more than a fifth of the Slurm nodes of {{ $labels.namespace }}/{{ $labels.cluster }}',
    description:
      'A faulty check is more likely than so many faulty nodes. Run sinfo -R, correct or remove the check, then resume the nodes.',
  },
  {
    alert: 'SlurmDatabaseQueueGrows',
    expr: 'max by (namespace, cluster) (slurm_operator_slurmctld_database_queue) > 1000',
    for: '10m',
    severity: 'critical',
    summary:
      'slurmctld of {{ $labels.namespace }}/{{ $labels.cluster }} has {{ $value }} messages for slurmdbd',
    description:
      'slurmdbd or its database does not take them. Above MaxDBDMsgs slurmctld drops records of jobs. Run kubectl describe for the Accounting.',
  },
  {
    alert: 'SlurmctldBusy',
    expr: 'max by (namespace, cluster) (slurm_operator_slurmctld_threads) > 200',
    for: '5m',
    severity: 'warning',
    summary:
      'slurmctld of {{ $labels.namespace }}/{{ $labels.cluster }} serves {{ $value }} requests at once',
    description:
      'At 256 it makes clients wait. The panel "Messages" shows which type; programs that call squeue or sacct in a loop are the usual cause.',
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
    alert: 'SlurmRolloutStuck',
    expr: 'min by (namespace, nodeset) (slurm_operator_nodeset_rollout_progress) < 1 and max by (namespace, nodeset) (changes(slurm_operator_nodeset_rollout_progress[2h])) == 0',
    for: '2h',
    severity: 'warning',
    summary: 'The rollout of NodeSet {{ $labels.namespace }}/{{ $labels.nodeset }} makes no progress',
    description:
      'It waits for running jobs, or its budget is used up by workers that are not ready: kubectl describe nodeset.',
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
    expr: 'sum by (controller) (rate(controller_runtime_reconcile_errors_total[15m])) > 0.1 or sum by (controller) (controller_runtime_overdue_reconciles) > 0',
    for: '15m',
    severity: 'warning',
    summary:
      'Controller {{ $labels.controller }} fails repeatedly, or a reconcile does not stop after its deadline',
    description:
      'See the log of the operator for the object and the error. While a reconcile does not stop, its object is not reconciled; after ten minutes the operator fails /livez and is restarted.',
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

interface AlertRules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly AlertRule[] }[];
}

interface AlertRule extends Pick<Alert, 'alert' | 'expr' | 'for'> {
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** A rules file as Prometheus reads it; it is also the spec of a PrometheusRule. */
export function alertRules(): AlertRules {
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

export const alertNames = (): string[] => alerts.map(({ alert }) => alert);

export const alertQueries = (): string[] => alerts.map(({ expr }) => expr);

/** A page that says what each alert means; a test makes each of them fire. */
export function alertsPage(): string {
  const parts = alerts.map(({ alert, expr, for: lasts, severity, summary, description }) =>
    [
      `## ${alert}`,
      '',
      `${plain(summary)}. ${plain(description)}`,
      '',
      `Severity ${severity}, after ${lasts}:`,
      '',
      '```',
      expr,
      '```',
    ].join('\n'),
  );
  return `<!-- Generated from packages/operator by \`make generate\`. Do not edit. -->

# Alerts

The alerts of \`deploy/monitoring/prometheus-alerts.yaml\`, with the first steps. The [metrics](../operations.md#metrics) are those of the operator.

${parts.join('\n\n')}
`;
}

/** Templates of Prometheus as words in capitals. */
const plain = (text: string): string =>
  text.replaceAll(/\{\{ \$(?:labels\.)?(\w+) \}\}/g, (_, name: string) =>
    name === 'value' ? 'N' : name.toUpperCase(),
  );
