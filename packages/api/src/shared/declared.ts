/** What every kind has whose objects declare a row of Slurm: how far the operator goes, and what it did. */
import { choice, flag, list, mapOf, optional, text } from '../schema/fields.ts';

export const declaredSpec = {
  drift: choice(['Correct', 'Report'], {
    description:
      'What happens when someone changes a field in Slurm that this object names. Correct writes it again, Report only names it in status.drift.',
    default: 'Correct',
  }),
  deletionPolicy: choice(['Orphan', 'Delete'], {
    description:
      'Whether it is removed from Slurm when this object is deleted. Orphan leaves it as it is. Delete removes it, and waits while jobs use it.',
    default: 'Orphan',
  }),
  adopt: flag({
    description:
      'Takes over one of that name that existed in Slurm before this object. If false, status.plan shows what would change, and nothing is written.',
    default: false,
  }),
};

const lines = (description: string) =>
  optional(list(text({ description: 'One change.' }), { description, merge: 'atomic' }));

export const declaredStatus = {
  applied: optional(
    mapOf(text({ description: 'The value as JSON; null while it is being written.' }), {
      description:
        'Fields that the operator wrote in Slurm and owns. One that leaves the specification is unset.',
    }),
  ),
  plan: lines('What would change in Slurm if spec.adopt were true.'),
  drift: lines('Fields that someone changed in Slurm, with drift: Report.'),
};
