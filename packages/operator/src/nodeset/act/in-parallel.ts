/** Runs jobs with at most `limit` at once; every job runs, and the failures are returned in order. */
export async function inParallel<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < items.length; index = next++) {
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

/**
 * Batches of 1, 2, 4, … that stop at the first with a failure: where the API server refuses one (a quota, say) it would refuse
 * them all, and need not be asked a thousand times.
 */
export async function slowStart<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<unknown[]> {
  let done = 0;
  for (let size = 1; done < items.length; size = Math.min(size * 2, limit)) {
    const batch = items.slice(done, done + size);
    const failures = await inParallel(batch, size, work);
    if (failures.length > 0) return failures;
    done += batch.length;
  }
  return [];
}
