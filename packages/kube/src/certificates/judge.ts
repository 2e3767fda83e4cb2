/** What to do with stored certificates, as a pure function of them and of the time. */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { CLOCK_SKEW } from '@slurm-operator/kubernetes-values';

/** The content of the Secret. `caCert` holds the newest authority first and those it replaces after it. */
export interface StoredCertificates {
  readonly caCert: string;
  readonly caKey: string;
  readonly cert: string;
  readonly key: string;
}

export type Judgement =
  /** All is well until `until` (milliseconds). */
  | { readonly verdict: 'keep'; readonly until: number }
  /** Make a new authority; those that still hold stay in the bundle. */
  | { readonly verdict: 'new-authority'; readonly why: string }
  | { readonly verdict: 'new-serving'; readonly why: string };

/** A certificate is replaced when this part of its life is left: early enough for many tries. */
const REMAINING = 1 / 3;

/** Milliseconds from a new authority to the first certificate that it signs. */
const SPREAD = 30_000;

export function judgeCertificates(
  stored: StoredCertificates | undefined,
  dnsNames: readonly string[],
  now: number,
): Judgement {
  if (stored === undefined) return { verdict: 'new-authority', why: 'there are no certificates yet' };
  const authority = parse(bundle(stored.caCert)[0] ?? '');
  if (authority === undefined || stored.caKey === '')
    return { verdict: 'new-authority', why: 'the stored authority cannot be read' };
  const authorityDue = renewalTime(authority);
  if (now >= authorityDue) return { verdict: 'new-authority', why: 'the authority nears its end' };
  const serving = parse(stored.cert);
  if (serving === undefined || stored.key === '')
    return { verdict: 'new-serving', why: 'the stored certificate cannot be read' };
  if (!serving.verify(authority.publicKey)) {
    const signer = signerOf(stored);
    const spread = Date.parse(authority.validFrom) + CLOCK_SKEW + SPREAD;
    // While the one before is valid and trusted, every API server gets time to hear of the new authority.
    if (signer !== undefined && now < spread && Date.parse(serving.validTo) > now)
      return { verdict: 'keep', until: spread };
    return { verdict: 'new-serving', why: 'the certificate is not of the newest authority' };
  }
  const missing = dnsNames.find(
    (name) => (isIP(name) === 0 ? serving.checkHost(name) : serving.checkIP(name)) === undefined,
  );
  if (missing !== undefined)
    return { verdict: 'new-serving', why: `the certificate does not name ${missing}` };
  const servingDue = renewalTime(serving);
  if (now >= servingDue) return { verdict: 'new-serving', why: 'the certificate nears its end' };
  return { verdict: 'keep', until: Math.min(authorityDue, servingDue) };
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

/** The bundle that clients should trust from now on: the new authority and those before it that are still valid. */
export function trustBundle(newest: string, before: string, now: number): string {
  const rest = bundle(before).filter((pem) => {
    const certificate = parse(pem);
    return certificate !== undefined && Date.parse(certificate.validTo) > now && pem.trim() !== newest.trim();
  });
  // One predecessor is enough: a rotation takes minutes, an authority lives for years.
  return [newest, ...rest.slice(0, 1)].map((pem) => `${pem.trim()}\n`).join('');
}

function renewalTime(certificate: X509Certificate): number {
  const from = Date.parse(certificate.validFrom);
  const to = Date.parse(certificate.validTo);
  return to - (to - from) * REMAINING;
}

function parse(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
