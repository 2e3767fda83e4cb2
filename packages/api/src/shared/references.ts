/** References to Secrets, ConfigMaps and other objects, always of the same namespace. */
import { flag, integer, object, optional, type Rule, text } from '../schema/fields.ts';
import { hostName } from './text-rules.ts';

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

/** Address of a daemon that this operator does not run. */
export const externalConfig = (daemon: string) =>
  optional(
    object(
      {
        host: text({
          description: `Host name or address of ${daemon}.`,
          maxLength: 253,
          rules: [hostName('externalConfig.host')],
        }),
        port: integer({ description: `Port of ${daemon}.`, minimum: 1, maximum: 65_535 }),
      },
      { description: `Address of ${daemon} if external is true.` },
    ),
  );
