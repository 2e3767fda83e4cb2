/** The body of a request, read once and never past the limit. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../api/errors.ts';

const limit = 3 * 1024 * 1024;

/** A function that reads the body at its first call and answers the same bytes at each. */
export function readBody(request: IncomingMessage): () => Promise<Buffer> {
  let bytes: Promise<Buffer> | undefined;
  return () => (bytes ??= read(request));
}

function read(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
    });
    // Only at the end: a client that still sends would not see the answer.
    request.on('end', () => {
      if (size <= limit)
        resolve(chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks));
      else reject(new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`));
    });
    request.on('error', reject);
    request.on('aborted', () =>
      reject(new ApiError(400, 'BadRequest', 'the client went away while sending')),
    );
  });
}
