import { hostname } from 'node:os';
import { issueServing, makeAuthority } from '../certificates/authority.ts';
import type { ServingCertificate } from '../certificates/certificate-source.ts';
import type { Clock } from '../clock.ts';

const YEAR = 365 * 24 * 3_600_000;

/** A certificate that nobody knows, kept in memory: it hides what is said, and ends with the process. */
export async function passingCertificate(name: string, clock: Clock): Promise<ServingCertificate> {
  const times = { now: clock.now(), lifetime: 10 * YEAR };
  const authority = await makeAuthority({ name, ...times });
  const { certPem, keyPem } = await issueServing(authority, {
    dnsNames: [hostname(), 'localhost', '127.0.0.1'],
    ...times,
  });
  return { cert: certPem, key: keyPem };
}
