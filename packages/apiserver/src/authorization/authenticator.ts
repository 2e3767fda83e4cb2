/** The user of a request: a client certificate of our CA, a service account token, or anonymous. */
import type { IncomingHttpHeaders } from 'node:http';
import type { PeerCertificate } from 'node:tls';
import type { KeyPair } from '@slurm-operator/kubernetes-values';
import { ApiError } from '../api/errors.ts';
import type { ServerEnvironment, UserInfo } from '../api/types.ts';
import type { Store } from '../store/store.ts';
import { TOKEN_ISSUER, type TokenClaims, TokenSigner } from './service-account-token.ts';
import { ANONYMOUS, AUTHENTICATED_GROUP, serviceAccountGroups } from './user-info.ts';

export interface Credentials {
  readonly headers: IncomingHttpHeaders;
  /** The client's certificate; `refused` when it was not signed by the server's CA or is not in date. */
  readonly certificate: PeerCertificate | 'refused' | undefined;
}

/** What a token proves: a user for some of the audiences asked for, or nothing. */
export type TokenCheck =
  | { readonly user: UserInfo; readonly audiences: readonly string[] }
  | { readonly fault: string };

interface AuthenticatorParts {
  readonly authority: KeyPair;
  readonly store: Store;
  readonly environment: ServerEnvironment;
}

const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';
const POD_NAME = 'authentication.kubernetes.io/pod-name';
const POD_UID = 'authentication.kubernetes.io/pod-uid';
const NODE_NAME = 'authentication.kubernetes.io/node-name';
const NODE_UID = 'authentication.kubernetes.io/node-uid';
/** A token tied to an object that is being deleted stays valid for a while, because the object's shutdown needs it. */
const DELETION_LEEWAY_MS = 60_000;

const INVALID: TokenCheck = { fault: 'invalid bearer token' };

export class Authenticator {
  readonly #parts: AuthenticatorParts;
  #signer: TokenSigner | undefined;

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
  }

  /** The user (system:anonymous without credentials); throws a 401 ApiError for bad ones. */
  authenticate({ headers, certificate }: Credentials): UserInfo {
    const bearer = /^bearer\s+(.*)$/i.exec(headers.authorization ?? '')?.[1];
    if (bearer !== undefined) {
      const checked = this.checkToken(bearer.trim(), []);
      if ('fault' in checked) throw new ApiError(401, 'Unauthorized', 'Unauthorized');
      return checked.user;
    }
    // A client that shows something invalid is not anonymous: clients renew what they were refused for.
    if (certificate === 'refused') throw new ApiError(401, 'Unauthorized', 'Unauthorized');
    if (certificate !== undefined) return certificateUser(certificate);
    if (headers.authorization !== undefined) throw new ApiError(401, 'Unauthorized', 'Unauthorized');
    return ANONYMOUS;
  }

  /** Reads a service account token; without audiences it must be meant for the API server itself. */
  checkToken(token: string, audiences: readonly string[]): TokenCheck {
    const claims = this.#tokens.read(token);
    return claims === undefined ? INVALID : checkClaims(this.#parts, claims, audiences);
  }

  /** Signs the claims of a service account token. */
  signToken(claims: object): string {
    return this.#tokens.sign(claims as TokenClaims);
  }

  /** Made when it is first needed: reading the key takes a while. */
  get #tokens(): TokenSigner {
    return (this.#signer ??= new TokenSigner(this.#parts.authority.keyPem));
  }
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

function checkClaims(parts: AuthenticatorParts, claims: TokenClaims, wanted: readonly string[]): TokenCheck {
  const now = parts.environment.now();
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
