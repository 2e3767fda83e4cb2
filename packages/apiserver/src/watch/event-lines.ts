/** Watch events as lines of the stream, in the form the client asked for. */

import { stringifyExact } from '../api/json.ts';
import type { KubeObject } from '../api/types.ts';
import type { RequestContext } from '../resource/request-context.ts';
import type { ResourceDefinition } from '../resource/resource-definition.ts';
import type { Representation } from '../response/negotiate.ts';
import { metadataOnly, table } from '../response/transform.ts';

export type EventLine = (type: string, object: KubeObject) => string;

/** The last object that was written, and its text: all watches of a resource receive a write together. */
const last: { object: KubeObject | undefined; text: string } = { object: undefined, text: '' };

export function eventLines(
  context: RequestContext,
  definition: ResourceDefinition,
  { as }: Representation,
): EventLine {
  let first = true;
  return (type, object) => {
    if (as === 'object' || type === 'ERROR') return `{"type":"${type}","object":${textOf(object)}}\n`;
    if (type === 'BOOKMARK') return `${stringifyExact({ type, object: bookmark(object, as) })}\n`;
    const shown =
      as === 'metadata'
        ? metadataOnly(object)
        : table(context, definition, { resourceVersion: object.metadata.resourceVersion }, [object], {
            withColumns: first,
          });
    first = false;
    return `${stringifyExact({ type, object: shown })}\n`;
  };
}

/** There is nothing to print of a bookmark but its resourceVersion. */
function bookmark(object: KubeObject, as: Representation['as']): KubeObject {
  if (as === 'metadata') return metadataOnly(object);
  const { resourceVersion } = object.metadata;
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { resourceVersion },
    columnDefinitions: null,
    rows: [{ cells: [], object: metadataOnly(object) }],
  };
}

function textOf(object: KubeObject): string {
  if (last.object !== object) {
    last.object = object;
    last.text = stringifyExact(object);
  }
  return last.text;
}
