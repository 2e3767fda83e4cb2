/** What every status has. */
import { choice, integer, list, object, optional, text } from '../schema/fields.ts';

const condition = object(
  {
    type: text({
      description:
        'Type of the condition: Ready, Progressing, Degraded, or one that is specific to the kind.',
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    }),
    status: choice(['True', 'False', 'Unknown'], {
      description: 'Status of the condition: True, False or Unknown.',
    }),
    reason: text({
      description: 'Reason in one documented word.',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
    message: text({ description: 'Explanation, and what to do.', maxLength: 32_768 }),
    lastTransitionTime: text({ description: 'When the status last changed.', format: 'date-time' }),
    observedGeneration: optional(
      integer({
        description: 'Generation of the object that the condition describes.',
        minimum: 0,
        format: 'int64',
      }),
    ),
  },
  { description: 'One condition of the object.' },
);

/** `observedGeneration` and `conditions`: part of the status of every kind. */
export const commonStatus = {
  observedGeneration: optional(
    integer({
      description: 'Generation of the specification that this status describes.',
      format: 'int64',
    }),
  ),
  conditions: optional(
    list(condition, {
      description: 'Whether the object is Ready, Progressing or Degraded, and why.',
      merge: ['type'],
    }),
  ),
};

export const count = (description: string) => optional(integer({ description, format: 'int32' }));
