/** What the plan and the status of a Token are made from. Reads, and changes nothing. */
import type { Token } from '@slurm-operator/api';
import { type Cache, type Client, type Live, type Secret, secrets } from '@slurm-operator/kube';
import { controllers } from '../../cache/resources.ts';
import { Sensitive } from '../../framework/actions.ts';
import { jwtKeyOf } from '../../objects/key-sources.ts';
import { readToken, secretOf, type TokenFacts } from './renewal.ts';

/** Without its data: that is in `key` and `facts`. */
export type SecretMetadata = Pick<Live<Secret>, 'metadata' | 'immutable'>;

export interface ObservedToken {
  readonly token: Live<Token>;
  readonly keyRef: { readonly name: string; readonly key: string };
  readonly keySecret: SecretMetadata | undefined;
  /** Read from the API server, because caches hold digests only; absent if the Secret lacks the key. */
  readonly key: Sensitive<Buffer> | undefined;
  readonly stored: SecretMetadata | undefined;
  /** What the stored token says; absent if the key did not sign it. */
  readonly facts: TokenFacts | undefined;
  /** Whether a Controller of the namespace uses the key. */
  readonly isControllersKey: boolean;
}

export async function observeToken(
  { cache, client }: { readonly cache: Cache; readonly client: Client },
  token: Live<Token>,
  signal: AbortSignal,
): Promise<ObservedToken> {
  const { namespace } = token.metadata;
  const keyRef = jwtKeyOf(token.spec) ?? { name: '', key: '' };
  const target = secretOf(token);
  const keySecret = await client.find(secrets, { namespace, name: keyRef.name }, { signal });
  const encoded = keySecret?.data?.[keyRef.key];
  const key = encoded === undefined ? undefined : Buffer.from(encoded, 'base64');
  const stored =
    key === undefined ? undefined : await client.find(secrets, { namespace, name: target.name }, { signal });
  const value = Buffer.from(stored?.data?.[target.key] ?? '', 'base64').toString('utf8');
  return {
    token,
    keyRef,
    keySecret: withoutData(keySecret),
    key: key === undefined ? undefined : new Sensitive(key),
    stored: withoutData(stored),
    facts: key === undefined ? undefined : readToken(value, key),
    isControllersKey: cache
      .list(controllers, { namespace })
      .some(({ spec }) => jwtKeyOf(spec)?.name === keyRef.name),
  };
}

function withoutData(secret: Live<Secret> | undefined): SecretMetadata | undefined {
  if (secret === undefined) return undefined;
  const { metadata, immutable } = secret;
  return { metadata, ...(immutable === undefined ? {} : { immutable }) };
}
