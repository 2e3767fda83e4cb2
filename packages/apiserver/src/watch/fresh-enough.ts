/** Reads that ask for a state which is not there yet wait a little for it, then give up. */
import { ApiError } from '../api/errors.ts';
import type { RequestContext } from '../resource/request-context.ts';

const patience = 3000;

/** Resolves when the store has reached a resourceVersion; 504 when it does not within three seconds. */
export async function freshEnough({ parts, signal }: RequestContext, revision: number): Promise<void> {
  const { store } = parts;
  if (store.revision >= revision) return;
  const reached = await new Promise<boolean>((resolve) => {
    const end = (answer: boolean): void => {
      clearTimeout(timer);
      stop();
      signal.removeEventListener('abort', giveUp);
      resolve(answer);
    };
    const giveUp = (): void => end(false);
    const timer = setTimeout(giveUp, patience);
    signal.addEventListener('abort', giveUp, { once: true });
    const stop = store.subscribe((event) => {
      if (event.revision >= revision) end(true);
    });
  });
  if (!reached) throw tooLarge(revision, store.revision);
}

function tooLarge(wanted: number, current: number): ApiError {
  return new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
    headers: { 'Retry-After': '1' },
  });
}
