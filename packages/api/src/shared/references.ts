/** References to Secrets, ConfigMaps and other objects, always of the same namespace. */
import { flag, object, optional, type Rule, text } from '../schema/fields.ts';

const objectName = (description: string) => text({ description, default: '', maxLength: 253 });

/** For references that are useless without a name. Upstream accepts an empty one and fails later. */
export const named = (field: string, what: string): Rule => ({
  rule: "self.name != ''",
  message: `${field}.name is empty: write the name of the ${what}`,
  reason: 'FieldValueRequired',
});

export const localReference = (description: string, what: string, rules: readonly Rule[] = []) =>
  object({ name: objectName(`Name of the ${what}.`) }, { description, atomic: true, rules });

const keySelector = (description: string, what: string, rules: readonly Rule[] = []) =>
  object(
    {
      name: objectName(`Name of the ${what}.`),
      key: text({ description: `Key inside the ${what}.`, maxLength: 253 }),
      optional: optional(
        flag({
          description: `No effect: the daemons need this ${what}, so a missing one is never tolerated.`,
        }),
      ),
    },
    { description, atomic: true, rules },
  );

export const secretKey = (description: string, rules: readonly Rule[] = []) =>
  keySelector(description, 'Secret', rules);

export const configMapKey = (description: string, rules: readonly Rule[] = []) =>
  keySelector(description, 'ConfigMap', rules);
