/** The API versions that this library supports, and their order. */
import { apiVersions, type OperationsOf } from '../generated/index.ts';

export type ApiVersion = keyof OperationsOf;

/** Newest first: the order of the negotiation. */
export const newestFirst: readonly ApiVersion[] = apiVersions.toReversed();

export function isApiVersion(text: string): text is ApiVersion {
  return (apiVersions as readonly string[]).includes(text);
}
