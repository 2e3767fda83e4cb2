/** Dashboards of what the operator does: changes of clusters, and its own work. */
import { type Dashboard, select } from './panels.ts';

export const rolloutsDashboard: Dashboard = {
  title: 'Slurm: upgrades and rollouts',
  uid: 'slurm-rollouts',
  rows: {
    Rollouts: [
      {
        title: 'Rollout',
        about: 'Share of workers at the newest revision.',
        kind: 'timeseries',
        unit: 'percentunit',
        queries: {
          '{{nodeset}}': `min by (namespace, nodeset) (slurm_operator_nodeset_rollout_progress{${select}})`,
        },
      },
      {
        title: 'Desired and ready',
        about: 'Workers of each NodeSet.',
        kind: 'timeseries',
        queries: {
          '{{nodeset}} desired': `max by (namespace, nodeset) (slurm_operator_nodeset_desired{${select}})`,
          '{{nodeset}} ready': `max by (namespace, nodeset) (slurm_operator_nodeset_ready{${select}})`,
        },
      },
      {
        title: 'Draining',
        about: 'Workers that the operator drains, and all drained Slurm nodes.',
        kind: 'timeseries',
        queries: {
          '{{nodeset}} draining': `max by (namespace, nodeset) (slurm_operator_nodeset_draining{${select}})`,
          '{{nodeset}} drained in Slurm': `max by (namespace, nodeset) (slurm_operator_nodeset_slurm_drained{${select}})`,
        },
      },
      {
        title: 'Drains',
        about: '90th percentile of the time from the drain by the operator to the deletion of the worker.',
        kind: 'timeseries',
        unit: 's',
        queries: {
          '{{nodeset}}': `histogram_quantile(0.9, sum by (le, nodeset) (rate(slurm_operator_nodeset_drain_seconds_bucket{${select}}[1h])))`,
        },
      },
      {
        title: 'Actions',
        about: 'Actions of the operator, per second.',
        kind: 'timeseries',
        queries: {
          '{{action}}': `sum by (action) (rate(slurm_operator_nodeset_actions_total{${select}}[$__rate_interval]))`,
        },
      },
      {
        title: 'Decisions that wait',
        about: 'Actions that wait because the state of Slurm is unknown, and for jobs, budgets or claims.',
        kind: 'timeseries',
        queries: {
          '{{nodeset}} unknown': `max by (namespace, nodeset) (slurm_operator_nodeset_decisions_withheld{${select}})`,
          '{{nodeset}} waiting': `max by (namespace, nodeset) (slurm_operator_nodeset_decisions_waiting{${select}})`,
        },
      },
    ],
    'Control plane': [
      {
        title: 'Ready',
        about: '1 while the object is Ready: an upgrade of slurmctld, slurmdbd or slurmrestd shows as a gap.',
        kind: 'timeseries',
        queries: {
          '{{kind}} {{name}}': `min by (kind, namespace, name) (slurm_operator_object_ready{${select},kind=~"Controller|Accounting|RestApi|Cluster"})`,
        },
      },
      {
        title: 'Running jobs',
        about: 'An upgrade or a rollout costs no job.',
        kind: 'timeseries',
        queries: {
          '{{namespace}}/{{cluster}}': `max by (namespace, cluster) (slurm_operator_cluster_jobs{${select},state="running"})`,
        },
      },
      {
        title: 'Messages that wait for slurmdbd',
        about: 'slurmctld keeps them while slurmdbd is replaced or converts its database.',
        kind: 'timeseries',
        queries: {
          '{{namespace}}/{{cluster}}': `max by (namespace, cluster) (slurm_operator_slurmctld_database_queue{${select}})`,
        },
      },
    ],
  },
};

export const operatorDashboard: Dashboard = {
  title: 'slurm-operator',
  uid: 'slurm-operator',
  rows: {
    Operator: [
      {
        title: 'Leader',
        about: 'One replica is the leader.',
        kind: 'stat',
        queries: { '{{name}}': 'sum by (name) (leader_election_master_status)' },
      },
      {
        title: 'Reconciles',
        about: 'Per second, by result.',
        kind: 'timeseries',
        queries: {
          '{{controller}} {{result}}':
            'sum by (controller, result) (rate(controller_runtime_reconcile_total[$__rate_interval]))',
        },
      },
      {
        title: 'Queue',
        about: 'Objects that wait for a worker.',
        kind: 'timeseries',
        queries: { '{{controller}}': 'sum by (controller) (workqueue_depth)' },
      },
      {
        title: 'Time of a reconcile',
        about: '99th percentile.',
        kind: 'timeseries',
        unit: 's',
        queries: {
          '{{controller}}':
            'histogram_quantile(0.99, sum by (le, controller) (rate(controller_runtime_reconcile_time_seconds_bucket[$__rate_interval])))',
        },
      },
      {
        title: 'Requests to the API server',
        about: 'Per second, by status code.',
        kind: 'timeseries',
        queries: {
          '{{method}} {{code}}': 'sum by (method, code) (rate(rest_client_requests_total[$__rate_interval]))',
        },
      },
      {
        title: 'Memory',
        about: 'Resident.',
        kind: 'timeseries',
        unit: 'bytes',
        queries: { '{{pod}}': 'process_resident_memory_bytes{job=~".*slurm-operator.*"}' },
      },
      {
        title: 'Event loop',
        about: '99th percentile of the event loop lag. Above a second, the other panels are unreliable.',
        kind: 'timeseries',
        unit: 's',
        queries: { '{{pod}}': 'nodejs_eventloop_lag_p99_seconds{job=~".*slurm-operator.*"}' },
      },
    ],
  },
};
