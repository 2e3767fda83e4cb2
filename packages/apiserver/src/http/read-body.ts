/** The body of a request, read once and never past the limit. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';

const limit = 3 * 1024 * 1024;

/** A function that reads the body at its first call and answers the same bytes at each. */
export function readBody(request: IncomingMessage): () => Promise<Buffer> {
  let bytes: Promise<Buffer> | undefined;
  return () => (bytes ??= read(request));
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      // Read to the end so that the client gets to see the answer.
      request.resume();
      throw new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
