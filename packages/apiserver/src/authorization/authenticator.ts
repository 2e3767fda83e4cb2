/** Who asks: a client certificate of our CA, a service account token, or nobody known. */
import { ApiError } from '../api/errors.ts';
import type { UserInfo } from '../api/types.ts';
import type { ServerParts } from '../resource/server-parts.ts';
import type { Authenticator, TokenCheck } from './credentials.ts';
import { TOKEN_ISSUER, type TokenClaims, TokenSigner } from './service-account-token.ts';
import { ANONYMOUS, AUTHENTICATED_GROUP, serviceAccountGroups } from './user-info.ts';

const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';
const POD_NAME = 'authentication.kubernetes.io/pod-name';
const POD_UID = 'authentication.kubernetes.io/pod-uid';
const NODE_NAME = 'authentication.kubernetes.io/node-name';
const NODE_UID = 'authentication.kubernetes.io/node-uid';
/** A token tied to an object that is being deleted works on for a while, as the object's last deeds need it. */
const DELETION_LEEWAY_MS = 60_000;

const INVALID: TokenCheck = { fault: 'invalid bearer token' };

export function createAuthenticator(parts: ServerParts): Authenticator {
  let signer: TokenSigner | undefined;
  const tokens = () => (signer ??= new TokenSigner(parts.authority.keyPem));
  const checkToken = (token: string, audiences: readonly string[]): TokenCheck => {
    const claims = tokens().read(token);
    return claims === undefined ? INVALID : checkClaims(parts, claims, audiences);
  };
  return {
    checkToken,
    signToken: (claims) => tokens().sign(claims as TokenClaims),
    authenticate({ headers, certificate }) {
      const bearer = /^bearer\s+(.*)$/i.exec(headers.authorization ?? '')?.[1];
      if (bearer !== undefined) {
        const checked = checkToken(bearer.trim(), []);
        if ('fault' in checked) throw new ApiError(401, 'Unauthorized', 'Unauthorized');
        return checked.user;
      }
      // Who shows something that does not count is not taken for nobody: clients renew what they were refused for.
      if (certificate === 'refused') throw new ApiError(401, 'Unauthorized', 'Unauthorized');
      if (certificate !== undefined) return certificateUser(certificate);
      if (headers.authorization !== undefined) throw new ApiError(401, 'Unauthorized', 'Unauthorized');
      return ANONYMOUS;
    },
  };
}

function certificateUser(certificate: {
  readonly subject: { readonly CN: string | string[]; readonly O?: string | string[] };
  readonly fingerprint256?: string;
}): UserInfo {
  const groups = [certificate.subject.O ?? []].flat();
  const digest = certificate.fingerprint256?.replaceAll(':', '').toLowerCase();
  return {
    name: [certificate.subject.CN].flat()[0] ?? '',
    groups: [...groups, AUTHENTICATED_GROUP],
    ...(digest === undefined ? {} : { extra: { [CREDENTIAL_ID]: [`X509SHA256=${digest}`] } }),
  };
}

function checkClaims(parts: ServerParts, claims: TokenClaims, wanted: readonly string[]): TokenCheck {
  const now = parts.surroundings.now();
  const accepted = wanted.length > 0 ? wanted : [TOKEN_ISSUER];
  const audiences = claims.aud.filter((audience) => accepted.includes(audience));
  if (claims.iss !== TOKEN_ISSUER || audiences.length === 0) return INVALID;
  if (claims.exp * 1000 <= now || claims.nbf * 1000 > now) return INVALID;
  const { namespace, serviceaccount, pod, secret, node } = claims['kubernetes.io'];
  const lives = (resource: string, place: string | undefined, reference: { name: string; uid: string }) => {
    const { metadata } = parts.store.get(resource, place, reference.name) ?? {};
    if (metadata?.uid !== reference.uid) return false;
    const { deletionTimestamp } = metadata;
    return deletionTimestamp === undefined || now < Date.parse(deletionTimestamp) + DELETION_LEEWAY_MS;
  };
  if (!lives('/serviceaccounts', namespace, serviceaccount)) return INVALID;
  if (pod && !lives('/pods', namespace, pod)) return INVALID;
  if (secret && !lives('/secrets', namespace, secret)) return INVALID;
  return {
    audiences,
    user: {
      name: claims.sub,
      uid: serviceaccount.uid,
      groups: [...serviceAccountGroups(namespace), AUTHENTICATED_GROUP],
      extra: {
        [CREDENTIAL_ID]: [`JTI=${claims.jti}`],
        ...(pod ? { [POD_NAME]: [pod.name], [POD_UID]: [pod.uid] } : {}),
        ...(node ? { [NODE_NAME]: [node.name], [NODE_UID]: [node.uid] } : {}),
      },
    },
  };
}
