/** Runs jobs with at most `limit` at once; every job runs, and the failures are returned in order. */
export async function inParallel<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<unknown[]> {
  return inLanes(items, limit, work, () => false);
}

/**
 * One at first, then twice as many with each success, up to `limit` at once; after a failure no further one is begun: where the
 * API server refuses one (a quota, say) it would refuse them all, and need not be asked a thousand times.
 */
export async function slowStart<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<unknown[]> {
  let done = 0;
  for (let size = 1; size < limit && done < items.length; size *= 2) {
    const batch = items.slice(done, done + size);
    const failures = await inParallel(batch, size, work);
    if (failures.length > 0) return failures;
    done += batch.length;
  }
  return inLanes(items.slice(done), limit, work, (failures) => failures > 0);
}

async function inLanes<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
  enough: (failures: number) => boolean,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < items.length && !enough(failures.length); index = next++) {
      try {
        await work(items[index] as T);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return failures;
}
