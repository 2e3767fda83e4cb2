/**
 * The resourceVersion of a list, and of a bookmark, is that of the last write of any client. Recorded on a server where no other client
 * wrote, it is that of an object; where controllers and nodes write all the time it may be newer, and never older.
 */
import { isObject } from '../../src/api/json.ts';
import { firstDifference } from './compare.ts';
import type { Masks } from './masks.ts';

interface Split {
  readonly rest: unknown;
  /** In the order in which they stand. */
  readonly versions: readonly string[];
}

/** Compares as `firstDifference` does, except that versions of lists may be newer than recorded. */
export function firstDifferenceAmongOthers(
  recorded: unknown,
  actual: unknown,
  masks: Masks,
  path = '$',
): string | undefined {
  const [wanted, found] = [split(recorded), split(actual)];
  const difference = firstDifference(wanted.rest, found.rest, masks, path);
  if (difference !== undefined) return difference;
  for (const [index, version] of wanted.versions.entries()) {
    const seen = found.versions[index] ?? '';
    if (!masks.matchesOrNewer(version, seen))
      return `${path}: the version of the list is ${JSON.stringify(seen)}, recorded was ${masks.fill(version)} or newer`;
  }
  return undefined;
}

/** Takes the versions out of a list, a table, or the bookmarks of a watch. */
function split(value: unknown): Split {
  if (Array.isArray(value)) {
    const parts = value.map((event) => (isBookmark(event) ? splitBookmark(event) : unchanged(event)));
    return { rest: parts.map(({ rest }) => rest), versions: parts.flatMap(({ versions }) => versions) };
  }
  return isObject(value) && (Array.isArray(value['items']) || Array.isArray(value['rows']))
    ? withoutVersion(value)
    : unchanged(value);
}

const unchanged = (rest: unknown): Split => ({ rest, versions: [] });

const isBookmark = (event: unknown): event is Record<string, unknown> =>
  isObject(event) && event['type'] === 'BOOKMARK';

function splitBookmark(event: Record<string, unknown>): Split {
  const { object } = event;
  if (!isObject(object)) return unchanged(event);
  const { rest, versions } = withoutVersion(object);
  return { rest: { ...event, object: rest }, versions };
}

function withoutVersion(value: Record<string, unknown>): Split {
  const { metadata } = value;
  if (!isObject(metadata) || typeof metadata['resourceVersion'] !== 'string') return unchanged(value);
  const { resourceVersion, ...others } = metadata;
  return { rest: { ...value, metadata: others }, versions: [resourceVersion] };
}
