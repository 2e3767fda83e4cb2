import { hostname } from 'node:os';
import { createAuthority, issueServing } from '@slurm-operator/kubernetes-values';
import type { ServingCertificate } from '../certificates/certificate-source.ts';
import type { Clock } from '../clock.ts';

const YEAR = 365 * 24 * 3_600_000;

/** A certificate that nobody knows, kept in memory: it hides what is said, and ends with the process. */
export async function passingCertificate(name: string, clock: Clock): Promise<ServingCertificate> {
  const times = { now: clock.now(), lifetime: 10 * YEAR };
  const authority = await createAuthority({ name, ...times });
  const { certificatePem, keyPem } = await issueServing(authority, {
    hosts: [hostname(), 'localhost', '127.0.0.1'],
    ...times,
  });
  return { cert: certificatePem, key: keyPem };
}
