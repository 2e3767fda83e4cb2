/** The Grafana dashboard: a look at every cluster from above, then at workers, then at the operator itself. */

interface Panel {
  readonly title: string;
  readonly about: string;
  readonly kind: 'timeseries' | 'stat' | 'table';
  readonly unit?: string;
  /** By legend. */
  readonly queries: Readonly<Record<string, string>>;
}

const select = 'namespace=~"$namespace"';

const rows: Readonly<Record<string, readonly Panel[]>> = {
  Clusters: [
    {
      title: 'Not ready',
      about: 'Objects whose Ready condition is not True. kubectl describe shows why.',
      kind: 'table',
      queries: { '{{kind}} {{namespace}}/{{name}}': `slurm_operator_object_ready{${select}} == 0` },
    },
    {
      title: 'Slurm nodes',
      about: 'As Slurm reports them.',
      kind: 'timeseries',
      queries: {
        '{{namespace}}/{{cluster}} {{state}}': `max by (namespace, cluster, state) (slurm_operator_cluster_nodes{${select}})`,
      },
    },
    {
      title: 'Jobs',
      about: 'Running and pending.',
      kind: 'timeseries',
      queries: {
        '{{namespace}}/{{cluster}} {{state}}': `max by (namespace, cluster, state) (slurm_operator_cluster_jobs{${select}})`,
      },
    },
  ],
  Workers: [
    {
      title: 'Desired and ready',
      about: 'Workers of each NodeSet.',
      kind: 'timeseries',
      queries: {
        '{{nodeset}} wanted': `max by (namespace, nodeset) (slurm_operator_nodeset_desired{${select}})`,
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
      title: 'Rollout',
      about: 'Share of workers at the newest revision.',
      kind: 'timeseries',
      unit: 'percentunit',
      queries: {
        '{{nodeset}}': `min by (namespace, nodeset) (slurm_operator_nodeset_rollout_progress{${select}})`,
      },
    },
    {
      title: 'Decisions withheld',
      about: 'Actions that wait because the state of Slurm is unknown.',
      kind: 'timeseries',
      queries: {
        '{{nodeset}}': `max by (namespace, nodeset) (slurm_operator_nodeset_decisions_withheld{${select}})`,
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
      title: 'Drains',
      about: '90th percentile of the time from the drain by the operator to the deletion of the worker.',
      kind: 'timeseries',
      unit: 's',
      queries: {
        '{{nodeset}}': `histogram_quantile(0.9, sum by (le, nodeset) (rate(slurm_operator_nodeset_drain_seconds_bucket{${select}}[1h])))`,
      },
    },
  ],
  Autoscaling: [
    {
      title: 'Nodes by state',
      about: 'Nodes of autoscaled NodeSets. Cooling nodes are not offered to jobs, because a wake-up failed.',
      kind: 'timeseries',
      queries: {
        '{{nodeset}} {{state}}': `max by (namespace, nodeset, state) (slurm_operator_nodeset_autoscale_nodes{${select}})`,
      },
    },
    {
      title: 'Wake-ups',
      about: 'Per hour, by result. Withdrawn: the job was cancelled before its node started.',
      kind: 'timeseries',
      queries: {
        '{{nodeset}} {{result}}': `sum by (namespace, nodeset, result) (increase(slurm_operator_nodeset_autoscale_wakeups_total{${select}}[1h]))`,
      },
    },
    {
      title: 'Stages of a wake-up',
      about: '90th percentile, from the moment at which the operator sees that Slurm powers the node up.',
      kind: 'timeseries',
      unit: 's',
      queries: {
        '{{nodeset}} {{stage}}': `histogram_quantile(0.9, sum by (le, nodeset, stage) (rate(slurm_operator_nodeset_autoscale_wakeup_seconds_bucket{${select}}[1h])))`,
      },
    },
  ],
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
};

const datasource = { type: 'prometheus', uid: '${datasource}' };
const width = 8;
const height = 8;

export function dashboard(): object {
  const panels: object[] = [];
  let id = 0;
  let y = 0;
  for (const [row, contents] of Object.entries(rows)) {
    id += 1;
    panels.push({
      id,
      type: 'row',
      title: row,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    });
    y += 1;
    for (const [index, { title, about, kind, unit, queries }] of contents.entries()) {
      id += 1;
      const x = (index % 3) * width;
      panels.push({
        id,
        type: kind,
        title,
        description: about,
        datasource,
        gridPos: { x, y: y + Math.floor(index / 3) * height, w: width, h: height },
        fieldConfig: { defaults: { unit: unit ?? 'short', min: 0 }, overrides: [] },
        targets: Object.entries(queries).map(([legendFormat, expr], at) => ({
          refId: String.fromCodePoint(65 + at),
          expr,
          legendFormat,
          datasource,
          ...(kind === 'timeseries' ? {} : { instant: true }),
        })),
      });
    }
    y += Math.ceil(contents.length / 3) * height;
  }
  return {
    title: 'slurm-operator',
    uid: 'slurm-operator',
    tags: ['slurm', 'kubernetes'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        {
          name: 'namespace',
          type: 'query',
          datasource,
          query: 'label_values(slurm_operator_object_ready, namespace)',
          includeAll: true,
          multi: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
        },
      ],
    },
    panels,
  };
}

export const dashboardQueries = (): string[] =>
  Object.values(rows).flatMap((panels) => panels.flatMap(({ queries }) => Object.values(queries)));
