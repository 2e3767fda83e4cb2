/** Every alert, evaluated by Prometheus' own promtool: it fires when it should, names the object, and is silent on a healthy cluster. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { unpackTools } from '@slurm-operator/sandbox';
import { alertNames, alertRules } from './alerts.ts';
import { dashboardQueries } from './dashboards.ts';

interface Case {
  /** Series → values, as promtool writes them: `0x20` is 0 for 20 minutes, `1+2x9` grows. */
  readonly series: Readonly<Record<string, string>>;
  /** When it must fire, and not a minute before. */
  readonly fires: string;
  readonly labels: Readonly<Record<string, string>>;
}

const where = 'namespace="hpc",cluster="slurm"';
const set = 'namespace="hpc",nodeset="gpu"';
const cluster = { namespace: 'hpc', cluster: 'slurm' };
const nodeset = { namespace: 'hpc', nodeset: 'gpu' };

const cases: Readonly<Record<string, Case>> = {
  SlurmClusterNotReady: {
    series: { 'slurm_operator_object_ready{kind="Cluster",namespace="hpc",name="slurm"}': '1x4 0x100' },
    fires: '15m',
    labels: { namespace: 'hpc', name: 'slurm', severity: 'critical' },
  },
  SlurmObjectNotReady: {
    series: { 'slurm_operator_object_ready{kind="NodeSet",namespace="hpc",name="gpu"}': '1x4 0x100' },
    fires: '20m',
    labels: { kind: 'NodeSet', namespace: 'hpc', name: 'gpu', severity: 'warning' },
  },
  SlurmNodesDown: {
    series: { [`slurm_operator_cluster_nodes{${where},state="down"}`]: '0x4 2x100' },
    fires: '20m',
    labels: { ...cluster, severity: 'warning' },
  },
  SlurmNodesDrainedLong: {
    series: {
      [`slurm_operator_node_out_of_service_seconds{${where},node="a",state="drained",class="person"}`]:
        '86100+60x100',
      [`slurm_operator_node_out_of_service_seconds{${where},node="b",state="drained",class="autoscale"}`]:
        '99999+60x100',
    },
    fires: '21m',
    labels: { ...cluster, class: 'person', severity: 'warning' },
  },
  SlurmChecksDrainManyNodes: {
    series: {
      ...Object.fromEntries(
        Array.from({ length: 10 }, (_, at) => [
          `slurm_operator_node_state{${where},node="n${at}",state="idle"}`,
          '1x100',
        ]),
      ),
      [`slurm_operator_nodes_drained{${where},class="health-check"}`]: '0x4 2x100',
      [`slurm_operator_nodes_drained{${where},class="node-condition"}`]: '0x4 1x100',
      [`slurm_operator_nodes_drained{${where},class="person"}`]: '9x104',
    },
    fires: '10m',
    labels: { ...cluster, severity: 'critical' },
  },
  SlurmDatabaseQueueGrows: {
    series: { [`slurm_operator_slurmctld_database_queue{${where}}`]: '0x4 5000x100' },
    fires: '15m',
    labels: { ...cluster, severity: 'critical' },
  },
  SlurmctldBusy: {
    series: { [`slurm_operator_slurmctld_threads{${where}}`]: '2x4 230x100' },
    fires: '10m',
    labels: { ...cluster, severity: 'warning' },
  },
  SlurmWorkersMissing: {
    series: {
      [`slurm_operator_nodeset_desired{${set}}`]: '4x100',
      [`slurm_operator_nodeset_ready{${set}}`]: '4x4 3x100',
    },
    fires: '35m',
    labels: { ...nodeset, severity: 'warning' },
  },
  SlurmDecisionsWithheld: {
    series: { [`slurm_operator_nodeset_decisions_withheld{${set}}`]: '0x4 1x100' },
    fires: '35m',
    labels: { ...nodeset, severity: 'warning' },
  },
  SlurmRolloutStuck: {
    series: { [`slurm_operator_nodeset_rollout_progress{${set}}`]: '1x4 0.5x400' },
    // Two hours without a change, for two hours.
    fires: '245m',
    labels: { ...nodeset, severity: 'warning' },
  },
  SlurmWakeUpsFail: {
    series: {
      [`slurm_operator_nodeset_autoscale_wakeups_total{${set},result="failed"}`]: '0x4 0+1x100',
      [`slurm_operator_nodeset_autoscale_wakeups_total{${set},result="started"}`]: '7x104',
    },
    fires: '21m',
    labels: { ...nodeset, severity: 'warning' },
  },
  SlurmWakeUpsSlow: {
    series: {
      [`slurm_operator_nodeset_autoscale_wakeup_seconds_bucket{${set},stage="total",le="600"}`]: '0x200',
      [`slurm_operator_nodeset_autoscale_wakeup_seconds_bucket{${set},stage="total",le="1800"}`]:
        '0x4 0+1x200',
      [`slurm_operator_nodeset_autoscale_wakeup_seconds_bucket{${set},stage="total",le="+Inf"}`]:
        '0x4 0+1x200',
    },
    fires: '36m',
    labels: { ...nodeset, severity: 'warning' },
  },
  SlurmOperatorHasNoLeader: {
    series: {
      'leader_election_master_status{name="slurm-operator",pod="a"}': '1x4 0x100',
      'leader_election_master_status{name="slurm-operator",pod="b"}': '0x104',
    },
    fires: '10m',
    labels: { severity: 'critical' },
  },
  SlurmOperatorReconcilesFail: {
    series: {
      'controller_runtime_reconcile_errors_total{controller="nodeset-controller"}': '0x100',
      'controller_runtime_overdue_reconciles{controller="nodeset-controller"}': '0x4 1x100',
    },
    fires: '20m',
    labels: { controller: 'nodeset-controller', severity: 'warning' },
  },
  SlurmOperatorStalls: {
    series: { 'nodejs_eventloop_lag_p99_seconds{job="hpc/slurm-operator"}': '0.1x4 3x100' },
    fires: '20m',
    labels: { severity: 'warning' },
  },
};

/** Everything as it should be, with some of what is not an alert: a drain of today, sleeping nodes, failures in the past. */
const healthy: Case['series'] = {
  'slurm_operator_object_ready{kind="Cluster",namespace="hpc",name="slurm"}': '1x600',
  'slurm_operator_object_ready{kind="NodeSet",namespace="hpc",name="gpu"}': '1x600',
  [`slurm_operator_cluster_nodes{${where},state="down"}`]: '0x600',
  [`slurm_operator_node_out_of_service_seconds{${where},node="a",state="drained",class="person"}`]:
    '0+60x600',
  [`slurm_operator_node_out_of_service_seconds{${where},node="b",state="down",class="slurm"}`]: '999999x600',
  [`slurm_operator_node_out_of_service_seconds{${where},node="c",state="drained",class="autoscale"}`]:
    '999999x600',
  [`slurm_operator_node_state{${where},node="a",state="drained"}`]: '1x600',
  [`slurm_operator_nodes_drained{${where},class="health-check"}`]: '0x600',
  [`slurm_operator_nodes_drained{${where},class="person"}`]: '1x600',
  [`slurm_operator_slurmctld_database_queue{${where}}`]: '0x600',
  [`slurm_operator_slurmctld_threads{${where}}`]: '3x600',
  [`slurm_operator_nodeset_desired{${set}}`]: '4x600',
  [`slurm_operator_nodeset_ready{${set}}`]: '4x600',
  [`slurm_operator_nodeset_decisions_withheld{${set}}`]: '0x600',
  [`slurm_operator_nodeset_rollout_progress{${set}}`]: '1x600',
  [`slurm_operator_nodeset_autoscale_wakeups_total{${set},result="failed"}`]: '0+1x600',
  [`slurm_operator_nodeset_autoscale_wakeups_total{${set},result="started"}`]: '0+1x600',
  'leader_election_master_status{name="slurm-operator",pod="a"}': '1x600',
  'leader_election_master_status{name="slurm-operator",pod="b"}': '0x600',
  'controller_runtime_reconcile_errors_total{controller="nodeset-controller"}': '0+1x600',
  'controller_runtime_overdue_reconciles{controller="nodeset-controller"}': '0x600',
  'nodejs_eventloop_lag_p99_seconds{job="hpc/slurm-operator"}': '0.02x600',
};

const run = promisify(execFile);
let promtool: string;
let directory: string;
before(async () => {
  promtool = (await unpackTools({ suite: 'trixie', packages: ['prometheus'] })).path('promtool');
  directory = await mkdtemp(join(tmpdir(), 'alerts-'));
  await writeFile(join(directory, 'rules.json'), JSON.stringify(alertRules()));
});
after(() => rm(directory, { recursive: true, force: true }));

interface Expected {
  readonly alertname: string;
  readonly eval_time: string;
  readonly exp_alerts: readonly { readonly exp_labels: object }[];
}

/** promtool compares annotations too, which these tests are not about: the rules are evaluated without them. */
function withoutAnnotations(): object {
  const { groups } = alertRules();
  return {
    groups: groups.map((group) => ({
      ...group,
      rules: group.rules.map(({ alert, expr, for: lasts, labels }) => ({ alert, expr, for: lasts, labels })),
    })),
  };
}

/** What promtool says against it; undefined: all is as expected. */
async function evaluated(name: string, series: Case['series'], expected: readonly Expected[]) {
  const rules = join(directory, `${name}-rules.json`);
  const file = join(directory, `${name}.json`);
  await writeFile(rules, JSON.stringify(withoutAnnotations()));
  const input = Object.entries(series).map(([one, values]) => ({ series: one, values }));
  await writeFile(
    file,
    JSON.stringify({
      rule_files: [rules],
      evaluation_interval: '1m',
      tests: [{ interval: '1m', input_series: input, alert_rule_test: expected }],
    }),
  );
  try {
    await run(promtool, ['test', 'rules', file], { timeout: 60_000 });
    return undefined;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}` || String(error);
  }
}

const minutes = (text: string) => Number(text.slice(0, -1));

test('every alert has a case', () => {
  assert.deepEqual(Object.keys(cases).toSorted(), alertNames().toSorted());
  assert.ok(alertNames().length >= 12 && alertNames().length <= 15);
});

test('Prometheus accepts the rules', async () => {
  await run(promtool, ['check', 'rules', join(directory, 'rules.json')], { timeout: 60_000 });
});

for (const [alertname, { series, fires, labels }] of Object.entries(cases))
  test(`${alertname} fires after ${fires}, and not before`, async () => {
    const fault = await evaluated(alertname, series, [
      { alertname, eval_time: `${minutes(fires) - 1}m`, exp_alerts: [] },
      { alertname, eval_time: fires, exp_alerts: [{ exp_labels: labels }] },
    ]);
    assert.equal(fault, undefined);
  });

test('a healthy cluster fires none, at any time of ten hours', async () => {
  const times = Array.from({ length: 20 }, (_, at) => `${at * 30}m`);
  const expected = alertNames().flatMap((alertname) =>
    times.map((time) => ({ alertname, eval_time: time, exp_alerts: [] })),
  );
  assert.equal(await evaluated('healthy', healthy, expected), undefined);
});

test('a planted case that never fires is found', async () => {
  const { series, labels } = cases['SlurmNodesDown'] as Case;
  const fault = await evaluated('planted', series, [
    { alertname: 'SlurmNodesDown', eval_time: '1m', exp_alerts: [{ exp_labels: labels }] },
  ]);
  assert.match(fault ?? '', /exp:/);
});

test('Prometheus parses the query of each panel', async () => {
  for (const query of dashboardQueries())
    await run(promtool, ['promql', 'format', query.replaceAll('$__rate_interval', '5m'), '--experimental'], {
      timeout: 60_000,
    }).catch((error: unknown) => {
      throw new Error(query, { cause: error });
    });
});
