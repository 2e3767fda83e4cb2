/** The kubeconfig that a client of the server uses. */
import { stringify } from 'yaml';
import type { KeyPair } from './certificate-authority.ts';

export function kubeconfig(of: {
  readonly url: string;
  readonly caPem: string;
  readonly user: string;
  readonly credentials: KeyPair | { readonly token: string };
}): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const user =
    'token' in of.credentials
      ? { token: of.credentials.token }
      : {
          'client-certificate-data': base64(of.credentials.certificatePem),
          'client-key-data': base64(of.credentials.keyPem),
        };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'embedded', cluster: { server: of.url, 'certificate-authority-data': base64(of.caPem) } },
    ],
    users: [{ name: of.user, user }],
    contexts: [{ name: 'embedded', context: { cluster: 'embedded', user: of.user } }],
    'current-context': 'embedded',
  };
  // As kubectl reads it: a user named `on` is quoted.
  return stringify(config, { version: '1.1' });
}
