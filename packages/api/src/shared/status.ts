/** What every status has. */
import { choice, integer, list, object, optional, text } from '../schema/fields.ts';

const condition = object(
  {
    type: text({
      description: 'What the condition is about: Ready, Progressing, Degraded, or one of the kind.',
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
    }),
    status: choice(['True', 'False', 'Unknown'], { description: 'Whether it holds.' }),
    reason: text({
      description: 'Why, in one word of the documented list.',
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    }),
    message: text({ description: 'Why, in a sentence, and what to do about it.', maxLength: 32_768 }),
    lastTransitionTime: text({ description: 'When the status last changed.', format: 'date-time' }),
    observedGeneration: optional(
      integer({ description: 'The generation of the object that was judged.', minimum: 0, format: 'int64' }),
    ),
  },
  { description: 'One statement about the object.' },
);

/** `observedGeneration` and `conditions`: part of the status of all seven kinds. */
export const commonStatus = {
  observedGeneration: optional(
    integer({
      description: 'The generation of the specification that this status describes.',
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
