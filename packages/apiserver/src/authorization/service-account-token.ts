/** Tokens of service accounts: signed statements of who, for whom, until when, and tied to which object. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

export const TOKEN_ISSUER = 'https://kubernetes.default.svc.cluster.local';

export interface BoundReference {
  readonly name: string;
  readonly uid: string;
}

export interface TokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
  readonly jti: string;
  readonly 'kubernetes.io': {
    readonly namespace: string;
    readonly serviceaccount: BoundReference;
    readonly pod?: BoundReference;
    readonly node?: BoundReference;
    readonly secret?: BoundReference;
  };
}

export class TokenSigner {
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  constructor(privateKeyPem: string) {
    this.#private = createPrivateKey(privateKeyPem);
    this.#public = createPublicKey(this.#private);
  }

  sign(claims: TokenClaims): string {
    const head = `${encode({ alg: 'ES256', typ: 'JWT' })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(head), { key: this.#private, dsaEncoding: 'ieee-p1363' });
    return `${head}.${signature.toString('base64url')}`;
  }

  /** The claims of a token we signed; `undefined` for anything else. Times are the caller's matter. */
  read(token: string): TokenClaims | undefined {
    const [head, body, signature, ...rest] = token.split('.');
    if (!head || !body || !signature || rest.length > 0) return undefined;
    const genuine = verify(
      'sha256',
      Buffer.from(`${head}.${body}`),
      { key: this.#public, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    // Only our own signature is trusted, so the header need not be looked at.
    return genuine ? (JSON.parse(Buffer.from(body, 'base64url').toString()) as TokenClaims) : undefined;
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
