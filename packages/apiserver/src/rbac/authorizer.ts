/** Only system:masters may do anything, until roles are looked at. */
import type { Authorizer } from '../ports/authorizer.ts';
import type { ServerParts } from '../ports/server-parts.ts';

export function createAuthorizer(_parts: ServerParts): Authorizer {
  return {
    authorize: ({ user }) => ({ allowed: user.groups.includes('system:masters'), reason: '' }),
  };
}
