/** The status of a NodeSet. */
import { flag, list, nullableMap, object, optional, text } from '../schema/fields.ts';
import { autoscaleStatus } from '../shared/autoscale.ts';
import { commonStatus, count } from '../shared/status.ts';

export const nodeSetStatus = object(
  {
    ...commonStatus,
    replicas: count('Number of worker pods.'),
    updatedReplicas: count('Number of workers at the newest revision.'),
    readyReplicas: count('Number of ready workers.'),
    availableReplicas: count('Number of workers that have been ready for minReadySeconds.'),
    unavailableReplicas: count('Number of workers that are missing or not available.'),
    desired: count('Desired number of workers.'),
    slurmIdle: count('Number of idle Slurm nodes.'),
    slurmAllocated: count('Number of Slurm nodes with jobs.'),
    slurmDown: count('Number of Slurm nodes that are down.'),
    slurmDrain: count('Number of Slurm nodes that are drained or draining.'),
    nodeSetHash: text({ description: 'The newest revision.', default: '' }),
    currentRevision: text({
      description: 'The revision before a rollout that is not over: workers below the partition keep it.',
      default: '',
    }),
    collisionCount: count('How often two revisions had the same hash.'),
    ordinalToNode: optional(
      nullableMap(text({ description: 'Name of the Kubernetes node.' }), {
        description: 'The node that each ordinal returns to, with pinToNode.',
      }),
    ),
    reservation: optional(
      object(
        {
          name: text({ description: 'Name of the reservation in Slurm.' }),
          startTime: text({
            description: 'Start of the window that it was created for.',
            format: 'date-time',
          }),
          created: flag({ description: 'False while the operator is about to create it.' }),
        },
        { description: 'The reservation in Slurm for scheduled updates.' },
      ),
    ),
    autoscale: optional(autoscaleStatus),
    requeueableJobs: optional(
      list(text({ description: 'Number of a job.' }), {
        description:
          'Jobs with --no-requeue that Slurm may requeue at the moment: the operator allows it while it abandons the wake-up of a node that they wait for, and forbids it again afterwards.',
        merge: 'atomic',
      }),
    ),
    selector: text({ description: 'Label selector of the worker pods, for autoscalers.', default: '' }),
  },
  { description: 'Most recently observed state.' },
);
