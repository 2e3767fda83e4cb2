/** Decides from the stored certificates and the time whether to renew the authority or the serving certificate. Pure. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { CLOCK_SKEW } from '@slurm-operator/kubernetes-values';

/** The content of the Secret. `caCert` holds the newest authority first and those it replaces after it. */
export interface StoredCertificates {
  readonly caCert: string;
  readonly caKey: string;
  readonly cert: string;
  readonly key: string;
}

export type CertificatePlan =
  /** Nothing to do until `until` (milliseconds). */
  | { readonly action: 'keep'; readonly until: number }
  /** Create an authority; valid previous ones stay in the bundle. */
  | { readonly action: 'new-authority'; readonly why: string }
  | { readonly action: 'new-serving'; readonly why: string };

/** A certificate is renewed when this part of its lifetime is left: time for many retries. */
const REMAINING = 1 / 3;

/** Milliseconds between a new authority and the first certificate that it signs, for API servers to load the bundle. */
const PROPAGATION = 30_000;

export function planCertificates(
  stored: StoredCertificates | undefined,
  dnsNames: readonly string[],
  now: number,
): CertificatePlan {
  if (stored === undefined) return { action: 'new-authority', why: 'no certificates exist' };
  const authority = parse(bundle(stored.caCert)[0] ?? '');
  // A tool that writes only its own fields, such as cert-manager, leaves the key of our authority beside a certificate of its own.
  if (authority === undefined || !hasKey(authority, stored.caKey))
    return { action: 'new-authority', why: 'the stored authority is invalid' };
  const authorityDue = renewalTime(authority);
  if (now >= authorityDue) return { action: 'new-authority', why: 'the authority expires soon' };
  const serving = parse(stored.cert);
  if (serving === undefined || !hasKey(serving, stored.key))
    return { action: 'new-serving', why: 'the stored certificate is invalid' };
  if (!serving.verify(authority.publicKey)) {
    const signer = signerOf(stored);
    const trustedAt = Date.parse(authority.validFrom) + CLOCK_SKEW + PROPAGATION;
    // While the previous certificate is valid and trusted, wait until every API server has loaded the new authority.
    if (signer !== undefined && now < trustedAt && Date.parse(serving.validTo) > now)
      return { action: 'keep', until: trustedAt };
    return { action: 'new-serving', why: 'the certificate is not signed by the newest authority' };
  }
  const missing = dnsNames.find(
    (name) => (isIP(name) === 0 ? serving.checkHost(name) : serving.checkIP(name)) === undefined,
  );
  if (missing !== undefined)
    return { action: 'new-serving', why: `the certificate does not name ${missing}` };
  const servingDue = renewalTime(serving);
  if (now >= servingDue) return { action: 'new-serving', why: 'the certificate expires soon' };
  return { action: 'keep', until: Math.min(authorityDue, servingDue) };
}

/** The certificates of a PEM bundle. */
export function bundle(text: string): string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----\n?/g) ?? [];
}

/** The authority of the stored bundle that signed the stored certificate. */
export function signerOf({ caCert, cert }: Pick<StoredCertificates, 'caCert' | 'cert'>): string | undefined {
  const serving = parse(cert);
  return bundle(caCert).find((pem) => {
    const authority = parse(pem);
    return authority !== undefined && serving?.verify(authority.publicKey) === true;
  });
}

/** The bundle that clients should trust: the new authority and the valid previous one. */
export function trustBundle(newest: string, before: string, now: number): string {
  const rest = bundle(before).filter((pem) => {
    const certificate = parse(pem);
    return certificate !== undefined && Date.parse(certificate.validTo) > now && pem.trim() !== newest.trim();
  });
  // One previous authority is enough: a rotation takes minutes, an authority is valid for years.
  return [newest, ...rest.slice(0, 1)].map((pem) => `${pem.trim()}\n`).join('');
}

function renewalTime(certificate: X509Certificate): number {
  const from = Date.parse(certificate.validFrom);
  const to = Date.parse(certificate.validTo);
  return to - (to - from) * REMAINING;
}

function hasKey(certificate: X509Certificate, pem: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(pem));
  } catch {
    return false;
  }
}

function parse(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
