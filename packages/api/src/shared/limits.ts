/** Limits of Slurm's accounting, as a QualityOfService and an Account name them. */
import { integer, mapOf, object, optional, text } from '../schema/fields.ts';

/** Slurm keeps counts in 32 bits, and its highest values have meanings of their own. */
const mostCount = 2_147_483_647;

const counted = (description: string) =>
  optional(integer({ description, minimum: 0, maximum: mostCount, format: 'int64' }));

const tres = (description: string) =>
  optional(
    mapOf(integer({ description: 'The limit; mem in MiB.', minimum: 0, format: 'int64' }), {
      description: `${description} Keys as Slurm tracks them: cpu, mem (MiB), node, billing, gres/gpu, license/name.`,
      maxProperties: 64,
    }),
  );

/** A duration that Slurm keeps in minutes. */
export const wholeMinutes = (field: string, description: string) =>
  optional(
    text({
      description,
      maxLength: 32,
      rules: [
        {
          rule: "self.matches('^([0-9]+[hm])+$') && duration(self) >= duration('1m')",
          message: `${field} must be a duration in whole minutes, such as 90m or 24h`,
        },
      ],
    }),
  );

export const wholeSeconds = (field: string, description: string) =>
  optional(
    text({
      description,
      maxLength: 32,
      rules: [
        {
          rule: "self.matches('^([0-9]+[hms])+$')",
          message: `${field} must be a duration in whole seconds, such as 30s or 2m`,
        },
      ],
    }),
  );

const share = (whose: string) => ({
  jobs: counted(`Running jobs of ${whose}.`),
  submit: counted(`Running and pending jobs of ${whose}.`),
  accruing: counted(`Pending jobs of ${whose} that gain age priority.`),
  tres: tres(`Resources that running jobs of ${whose} may hold.`),
  tresRunMinutes: tres(
    `Resource minutes that running jobs of ${whose} may still use until their time limits.`,
  ),
});

/** The same without a rule, which would cost the API server too much in a long list. */
const listedMinutes = (_: string, description: string) =>
  optional(text({ description, maxLength: 32, pattern: '^([0-9]+[hm])*0*[1-9][0-9]*[hm]([0-9]+[hm])*$' }));

const perJobLimits = (minutes = wholeMinutes) => ({
  tres: tres('Resources of one job, at most.'),
  tresPerNode: tres('Resources of one job on one node, at most.'),
  tresMinutes: tres('Resource minutes of one job, at most.'),
  wall: minutes('limits.perJob.wall', 'Time limit of one job, at most, such as 24h.'),
});

export const qosLimits = optional(
  object(
    {
      group: optional(
        object(
          {
            ...share('the QOS together'),
            tresMinutes: tres('Resource minutes that all jobs may use, ended ones included.'),
            wall: wholeMinutes('limits.group.wall', 'Time that all jobs may run, such as 1000h.'),
          },
          { description: 'Limits of all jobs of the QOS together.' },
        ),
      ),
      perUser: optional(object(share('one user'), { description: 'Limits of each user.' })),
      perAccount: optional(object(share('one account'), { description: 'Limits of each account.' })),
      perJob: optional(
        object(
          {
            ...perJobLimits(),
            minTres: tres('Resources of one job, at least.'),
          },
          { description: 'Limits of each job.' },
        ),
      ),
      minPriority: counted('Priority that a job needs to start.'),
    },
    { description: 'Limits. One that is left out is not owned: Slurm keeps its value.' },
  ),
);

const runMinutes = (whose: string) =>
  tres(`Resource minutes that running jobs of ${whose} may still use until their time limits.`);

/** Of an account, or of a member of one. */
export const associationLimits = (whose: string, what: string, place: 'once' | 'listed' = 'once') => {
  const minutes = place === 'once' ? wholeMinutes : listedMinutes;
  return optional(
    object(
      {
        group: optional(
          object(
            {
              ...share(whose),
              tresMinutes: tres('Resource minutes that all jobs may use, ended ones included.'),
              wall: minutes('limits.group.wall', 'Time that all jobs may run, such as 1000h.'),
            },
            { description: `Limits of all jobs of ${whose}.` },
          ),
        ),
        perMember: optional(
          object(
            {
              jobs: counted(`Running jobs of ${what}.`),
              submit: counted(`Running and pending jobs of ${what}.`),
              accruing: counted(`Pending jobs of ${what} that gain age priority.`),
              tresRunMinutes: runMinutes(what),
            },
            { description: `Limits of ${what}.` },
          ),
        ),
        perJob: optional(object(perJobLimits(minutes), { description: 'Limits of each job.' })),
        minPriority: counted('Priority that a job needs to start.'),
      },
      { description: 'Limits. One that is left out is not owned: Slurm keeps its value.' },
    ),
  );
};
