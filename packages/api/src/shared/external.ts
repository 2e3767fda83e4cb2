/** Address of a daemon that this operator does not run. */
import { integer, object, optional, text } from '../schema/fields.ts';
import { hostName } from './text-rules.ts';

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
