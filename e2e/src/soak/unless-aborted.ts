/** What the work comes to, or the reason of the signal as soon as that is given; the work is then left to itself, and so is its error. */
export async function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return work;
  const aborted = Promise.withResolvers<never>();
  const give = () => aborted.reject(signal.reason);
  if (signal.aborted) give();
  signal.addEventListener('abort', give, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', give);
  }
}
