/** Autoscaling of a NodeSet: fields of its spec and of its status. */
import { integer, object, optional, text } from '../schema/fields.ts';
import { count } from './status.ts';
import { goDuration } from './text-rules.ts';

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
    retryAfter: period(
      'retryAfter',
      'How long a Slurm node whose worker did not start is not offered to jobs.',
      '10m',
      '1s',
      '24h',
    ),
    shape: optional(shape),
  },
  {
    description:
      'Slurm decides which workers run: a sleeping node gets its worker when a job is allocated to it, and an idle worker is removed. spec.replicas is ignored. Needs Slurm 25.11 or later.',
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
      'Number of Slurm nodes that are not offered to jobs, because their last worker did not start.',
    ),
  },
  { description: 'Slurm nodes of an autoscaled NodeSet by state.' },
);
