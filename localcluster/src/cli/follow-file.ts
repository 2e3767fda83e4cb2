import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** Hands over what is in a file and what comes to it, until the file is gone or `signal` says enough. */
export async function followFile(
  path: string,
  emit: (chunk: Buffer) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let position = 0; !signal.aborted; ) {
    const size = await stat(path).then(
      (found) => found.size,
      () => undefined,
    );
    if (size === undefined) return;
    if (size > position)
      for await (const chunk of createReadStream(path, { start: position, end: size - 1 })) {
        position += (chunk as Buffer).length;
        emit(chunk as Buffer);
      }
    else await delay(200, undefined, { signal }).catch(() => {});
  }
}
