/** Client certificates only: the common name is the user, organizations are groups. */
import { ApiError } from '../errors.ts';
import type { Authenticator } from '../ports/authenticator.ts';
import type { ServerParts } from '../ports/server-parts.ts';

export function createAuthenticator(_parts: ServerParts): Authenticator {
  return {
    authenticate({ headers, certificate }) {
      if (certificate !== undefined) {
        const organizations = certificate.subject.O as string | string[] | undefined;
        const groups = organizations === undefined ? [] : [organizations].flat();
        return { name: certificate.subject.CN, groups: [...groups, 'system:authenticated'] };
      }
      if (headers.authorization !== undefined) throw new ApiError(401, 'Unauthorized', 'Unauthorized');
      return { name: 'system:anonymous', groups: ['system:unauthenticated'] };
    },
  };
}
