/** A server-side apply without the fields that the server's schema does not have. */
import type { Client } from '../client/client.ts';
import type { ApplyIntent, ApplyOptions } from '../client/options.ts';
import type { KubeObject, Live } from '../objects/object.ts';
import type { Resource } from '../objects/resource.ts';
import { undeclaredFields, withoutFields } from './undeclared-fields.ts';

/** Each refusal names several unknown fields; after this many rounds the error is thrown. */
const maxRounds = 8;

export interface AppliedDeclared<T extends KubeObject> {
  readonly object: Live<T>;
  /** Paths of the intent that the server's schema does not have; they were not sent. */
  readonly ignored: readonly string[];
}

/**
 * The server refuses the whole object because of one unknown field. Such fields are left out and reported in the result. `known`: those
 * of the last time.
 */
export async function applyDeclared<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  intent: ApplyIntent<T>,
  options: ApplyOptions = {},
  known: readonly string[] = [],
): Promise<AppliedDeclared<T>> {
  let ignored = known;
  for (let round = 1; ; round += 1) {
    try {
      const object = await client.apply(resource, withoutFields(intent, ignored), options);
      return { object, ignored };
    } catch (error) {
      const more = undeclaredFields(error instanceof Error ? error.message : '').filter(
        (path) => !ignored.includes(path),
      );
      if (more.length === 0 || round === maxRounds) throw error;
      ignored = [...ignored, ...more];
    }
  }
}
