/** Nothing is changed or refused yet. */
import type { AdmissionChain } from '../ports/admission-chain.ts';
import type { ServerParts } from '../ports/server-parts.ts';

export function createAdmissionChain(_parts: ServerParts): AdmissionChain {
  return {
    mutate: (attributes) => Promise.resolve(attributes.object),
    validate: () => Promise.resolve(),
  };
}
