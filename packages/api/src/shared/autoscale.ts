/** Autoscaling of a NodeSet: fields of its spec and of its status. */
import { choice, integer, list, object, optional, text } from '../schema/fields.ts';
import { count } from './status.ts';
import { goDuration } from './text-rules.ts';

const time = (description: string) => text({ description, format: 'date-time' });

const period = (field: string, description: string, byDefault: string, least: string, most: string) =>
  text({
    description,
    default: byDefault,
    maxLength: 64,
    rules: [
      {
        rule: `self.matches('${goDuration}') && duration(self) >= duration('${least}') && duration(self) <= duration('${most}')`,
        message: `autoscale.${field} must be a duration from ${least} to ${most}, such as ${byDefault}`,
      },
    ],
  });

const shape = object(
  {
    cpus: optional(
      integer({ description: 'CPUs of a worker.', minimum: 1, maximum: 65_535, format: 'int32' }),
    ),
    memory: optional(
      text({
        description: 'Memory of a worker, such as 900Gi.',
        maxLength: 32,
        rules: [
          {
            rule: "self.matches('^[0-9]+(Mi|Gi|Ti|M|G|T)$')",
            message: 'autoscale.shape.memory must be a whole quantity with a unit, such as 900Gi',
          },
        ],
      }),
    ),
    gres: optional(
      text({
        description: 'Generic resources of a worker, as in slurm.conf, such as gpu:h100:8.',
        maxLength: 256,
        rules: [
          {
            rule: "self.matches('^[A-Za-z][A-Za-z0-9_]*(:[A-Za-z0-9_.-]+){0,2}(,[A-Za-z][A-Za-z0-9_]*(:[A-Za-z0-9_.-]+){0,2})*$')",
            message: 'autoscale.shape.gres must be a list as in slurm.conf, such as gpu:h100:8',
          },
        ],
      }),
    ),
  },
  {
    description:
      'Size of a worker, for Slurm to know it before the worker exists. Defaults to the limits of the slurmd container and extraConf.',
  },
);

const capacity = object(
  {
    giveUpAfter: period(
      'capacity.giveUpAfter',
      'How long the pod of a worker may wait for a Kubernetes node, or for its image. After that its job is requeued as a whole.',
      '5m',
      '10s',
      '24h',
    ),
    retryAfter: period(
      'capacity.retryAfter',
      'How long the sleeping nodes of the NodeSet are not offered to jobs after a worker did not start.',
      '10m',
      '1s',
      '24h',
    ),
    protectAfter: integer({
      description:
        'Number of failed wake-ups in a row after which sleeping nodes are offered to jobs every half hour only, until a worker starts.',
      default: 10,
      minimum: 1,
      maximum: 1000,
      format: 'int32',
    }),
  },
  { description: 'What happens when no Kubernetes node is available for a worker.', default: {} },
);

export const autoscale = object(
  {
    min: integer({
      description: 'Number of workers that are always awake.',
      default: 0,
      minimum: 0,
      maximum: 65_533,
      format: 'int32',
    }),
    max: integer({
      description: 'Number of Slurm nodes: those that sleep are shown by sinfo and can be allocated.',
      minimum: 1,
      maximum: 65_533,
      format: 'int32',
    }),
    spare: integer({
      description: 'Number of idle workers that stay awake in addition to those with jobs.',
      default: 0,
      minimum: 0,
      maximum: 65_533,
      format: 'int32',
    }),
    idleAfter: period('idleAfter', 'How long a worker is idle before it is removed.', '10m', '1s', '8760h'),
    startWithin: period(
      'startWithin',
      'How long a worker may take to start. After that, and one more minute, Slurm requeues its job. The longest of all NodeSets counts.',
      '15m',
      '30s',
      '24h',
    ),
    wake: choice(['OnDemand', 'Manual'], {
      description:
        'OnDemand: Slurm wakes a sleeping node when a job is allocated to it. Manual: jobs wake nothing; sleeping nodes are drained, and "scontrol update nodename=… state=power_up" or a higher min wakes them.',
      default: 'OnDemand',
    }),
    shape: optional(shape),
    capacity,
  },
  {
    description:
      'Slurm decides which workers run: a sleeping node gets its worker when a job is allocated to it, and an idle worker is removed. spec.replicas is ignored.',
    rules: [
      {
        rule: '!has(self.min) || self.min <= self.max',
        message: 'autoscale.min is larger than autoscale.max: raise max or lower min',
        fieldPath: '.min',
      },
      {
        rule: '!has(self.spare) || self.spare <= self.max',
        message: 'autoscale.spare is larger than autoscale.max: raise max or lower spare',
        fieldPath: '.spare',
      },
    ],
  },
);

export const autoscaleStatus = object(
  {
    visible: count('Number of Slurm nodes that exist, awake or not.'),
    awake: count('Number of workers in service.'),
    waking: count('Number of workers that Slurm waits for.'),
    sleeping: count('Number of Slurm nodes without a worker that jobs can be allocated to.'),
    stopping: count('Number of workers that are being removed.'),
    cooling: count(
      'Number of Slurm nodes that are not offered to jobs, because a worker of the NodeSet did not start.',
    ),
    failures: count('Number of failed wake-ups since the last worker that started.'),
    lastFailure: optional(time('When a wake-up last failed, by the clock of Slurm.')),
    protectedSince: optional(
      time('Since when sleeping nodes are offered every half hour only, because wake-ups failed repeatedly.'),
    ),
    nextTry: optional(time('When sleeping nodes are offered to jobs again.')),
    recordsToCreate: optional(
      text({
        description:
          'Slurm nodes that the Controller creates with scontrol, as a line of slurm.conf (Slurm before 25.11 only).',
      }),
    ),
    shape: optional(
      object(
        {
          source: text({ description: 'Where the size comes from: Spec, Limits or LastWorker.' }),
          cpus: count('CPUs of a worker.'),
          memory: count('Memory of a worker in MiB.'),
          gpus: count('GPUs of a worker.'),
        },
        { description: 'Size of a sleeping node, as Slurm knows it.' },
      ),
    ),
    last: optional(
      object(
        {
          at: time('When it was decided.'),
          did: text({ description: 'Wake, Sleep or GiveUp.' }),
          nodes: text({ description: 'The Slurm nodes, as a hostlist.' }),
          jobs: optional(
            list(text({ description: 'Number of a job.' }), {
              description: 'The jobs that wait for them; at most 20.',
              merge: 'atomic',
            }),
          ),
          why: text({ description: 'The reason, in a sentence.' }),
        },
        { description: 'The last decision.' },
      ),
    ),
  },
  { description: 'Slurm nodes of an autoscaled NodeSet by state.' },
);
