/** Dashboards of Slurm itself: clusters from above, nodes, jobs and queues. */
import { type Dashboard, select } from './panels.ts';

export const clusterDashboard: Dashboard = {
  title: 'Slurm: cluster',
  uid: 'slurm-cluster',
  rows: {
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
    slurmctld: [
      {
        title: 'Slurm is known',
        about: '1 while the operator has a current list of nodes. At 0 it deletes and drains nothing.',
        kind: 'timeseries',
        queries: {
          '{{namespace}}/{{cluster}}': `max by (namespace, cluster) (slurm_operator_slurm_known{${select}})`,
        },
      },
      {
        title: 'Messages',
        about: 'The ten types of messages that slurmctld gets most, per second.',
        kind: 'timeseries',
        unit: 'reqps',
        queries: {
          '{{rpc}}': `topk(10, sum by (rpc) (rate(slurm_operator_slurmctld_rpcs_total{${select}}[5m])))`,
        },
      },
      {
        title: 'Time for messages',
        about: 'The ten types of messages that take most of the time of slurmctld. 1 is one busy thread.',
        kind: 'timeseries',
        queries: {
          '{{rpc}}': `topk(10, sum by (rpc) (rate(slurm_operator_slurmctld_rpc_seconds_total{${select}}[5m])))`,
        },
      },
      {
        title: 'Threads',
        about: 'slurmctld refuses requests at 256 busy threads.',
        kind: 'timeseries',
        queries: {
          '{{namespace}}/{{cluster}}': `max by (namespace, cluster) (slurm_operator_slurmctld_threads{${select}})`,
        },
      },
      {
        title: 'Queues',
        about:
          'Messages that wait to be sent to nodes and to slurmdbd. The second grows while slurmdbd or its database is down.',
        kind: 'timeseries',
        queries: {
          '{{namespace}}/{{cluster}} nodes': `max by (namespace, cluster) (slurm_operator_slurmctld_agent_queue{${select}})`,
          '{{namespace}}/{{cluster}} slurmdbd': `max by (namespace, cluster) (slurm_operator_slurmctld_database_queue{${select}})`,
        },
      },
      {
        title: 'Schedulers',
        about: 'Time of the last cycle.',
        kind: 'timeseries',
        unit: 's',
        queries: {
          '{{namespace}}/{{cluster}} main': `max by (namespace, cluster) (slurm_operator_slurmctld_schedule_seconds{${select}})`,
          '{{namespace}}/{{cluster}} backfill': `max by (namespace, cluster) (slurm_operator_slurmctld_backfill_seconds{${select}})`,
        },
      },
    ],
  },
};

export const nodesDashboard: Dashboard = {
  title: 'Slurm: nodes',
  uid: 'slurm-nodes',
  rows: {
    Nodes: [
      {
        title: 'By state',
        about: 'Each node counts in one state.',
        kind: 'timeseries',
        queries: {
          '{{cluster}} {{state}}': `count by (namespace, cluster, state) (slurm_operator_node_state{${select}})`,
        },
      },
      {
        title: 'In use, by NodeSet',
        about: 'Share of the nodes of each NodeSet that run jobs.',
        kind: 'timeseries',
        unit: 'percentunit',
        queries: {
          '{{nodeset}}': `(sum by (namespace, nodeset) (slurm_operator_node_state{${select},state=~"mixed|allocated|draining"}) or 0 * count by (namespace, nodeset) (slurm_operator_node_state{${select}})) / count by (namespace, nodeset) (slurm_operator_node_state{${select}})`,
        },
      },
      {
        title: 'Age of the list',
        about: 'How old the states of these panels are.',
        kind: 'timeseries',
        unit: 's',
        queries: {
          '{{namespace}}/{{cluster}}': `max by (namespace, cluster) (slurm_operator_slurm_list_age_seconds{${select}})`,
        },
      },
    ],
    'Out of service': [
      {
        title: 'Drained, by class',
        about: 'What drained the nodes: the operator, a health check, Slurm, or a person.',
        kind: 'timeseries',
        queries: {
          '{{cluster}} {{class}}': `sum by (namespace, cluster, class) (slurm_operator_nodes_drained{${select}})`,
        },
      },
      {
        title: 'Longest out of service',
        about: 'The 20 nodes that have been drained or down longest, in seconds. sinfo -R shows the reasons.',
        kind: 'table',
        unit: 's',
        queries: {
          '{{node}} {{state}} {{class}}': `topk(20, slurm_operator_node_out_of_service_seconds{${select}})`,
        },
      },
      {
        title: 'Drained by others',
        about: 'Drained workers that the operator did not drain, and does not undrain.',
        kind: 'timeseries',
        queries: {
          '{{nodeset}}': `max by (namespace, nodeset) (slurm_operator_nodeset_slurm_drained_by_others{${select}})`,
        },
      },
    ],
    Autoscaling: [
      {
        title: 'Nodes by power state',
        about:
          'Nodes of autoscaled NodeSets. Cooling nodes are not offered to jobs, because a wake-up failed.',
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
  },
};

export const jobsDashboard: Dashboard = {
  title: 'Slurm: jobs and queues',
  uid: 'slurm-jobs',
  rows: {
    Queues: [
      {
        title: 'Why jobs wait',
        about: 'Pending jobs by reason. Limit: a limit of a QOS, an account or a partition.',
        kind: 'timeseries',
        queries: {
          '{{cluster}} {{why}}': `sum by (namespace, cluster, why) (slurm_operator_jobs_pending{${select}})`,
        },
      },
      {
        title: 'Pending, by partition',
        about: 'A job that was submitted to several partitions counts in the first.',
        kind: 'timeseries',
        queries: {
          '{{partition}}': `sum by (namespace, cluster, partition) (slurm_operator_jobs_pending{${select}})`,
        },
      },
      {
        title: 'Longest wait',
        about: 'Of a job that waits for resources, priority, a license or nodes.',
        kind: 'timeseries',
        unit: 's',
        queries: {
          '{{partition}}': `max by (namespace, cluster, partition) (slurm_operator_jobs_pending_oldest_seconds{${select}})`,
        },
      },
      {
        title: 'Wait until the start',
        about: '50th and 90th percentile of the jobs that started in the last hour.',
        kind: 'timeseries',
        unit: 's',
        queries: {
          '{{partition}} 50 %': `histogram_quantile(0.5, sum by (le, partition) (rate(slurm_operator_job_wait_seconds_bucket{${select}}[1h])))`,
          '{{partition}} 90 %': `histogram_quantile(0.9, sum by (le, partition) (rate(slurm_operator_job_wait_seconds_bucket{${select}}[1h])))`,
        },
      },
      {
        title: 'Jobs per minute',
        about: 'Submitted, started and ended, from the statistics of slurmctld.',
        kind: 'timeseries',
        queries: {
          '{{event}}': `sum by (event) (rate(slurm_operator_slurmctld_jobs_total{${select}}[15m])) * 60`,
        },
      },
      {
        title: 'Age of the reasons',
        about: 'Reasons are read at most once a minute, less often where the list of jobs takes long.',
        kind: 'timeseries',
        unit: 's',
        queries: {
          '{{namespace}}/{{cluster}}': `max by (namespace, cluster) (slurm_operator_jobs_pending_age_seconds{${select}})`,
        },
      },
    ],
    GPUs: [
      {
        title: 'In use, by account',
        about: 'GPUs of running jobs.',
        kind: 'timeseries',
        queries: {
          '{{account}}': `sum by (namespace, cluster, account) (slurm_operator_job_gpu{${select}})`,
        },
      },
      {
        title: 'In use, by partition',
        about: 'GPUs of running jobs.',
        kind: 'timeseries',
        queries: {
          '{{partition}}': `sum by (namespace, cluster, partition) (slurm_operator_job_gpu{${select}})`,
        },
      },
      {
        title: 'Jobs with the most GPUs',
        about:
          'Join slurm_operator_job_gpu with the metrics of DCGM by node and gpu to see how busy they are.',
        kind: 'table',
        queries: {
          '{{job_id}} {{user}}': `topk(20, sum by (namespace, cluster, job_id, user, account) (slurm_operator_job_gpu{${select}}))`,
        },
      },
    ],
  },
};
