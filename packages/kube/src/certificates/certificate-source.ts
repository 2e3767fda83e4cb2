/** Where a server gets its certificate from, with notification of a new one. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, sleep, systemClock } from '../clock.ts';
import { explain } from '../errors.ts';
import { type Log, silent } from '../log.ts';

export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateSource {
  /** Calls `use` with the first certificate and with each new one, until the signal is aborted. */
  run(use: (certificate: ServingCertificate) => void, signal: AbortSignal): Promise<void>;
}

export interface CertificateFilesOptions {
  /** Holds `tls.crt` and `tls.key`, as cert-manager and kubernetes.io/tls Secrets are mounted. */
  readonly directory: string;
  /** Polling interval in milliseconds. @default 10_000 */
  readonly period?: number;
  readonly clock?: Clock;
  readonly log?: Log;
}

/** A mounted certificate, polled because the kubelet replaces the files while the program runs. */
export function certificateFiles(options: CertificateFilesOptions): CertificateSource {
  const { directory, period = 10_000, clock = systemClock, log = silent } = options;
  return {
    async run(use, signal) {
      let last: ServingCertificate = { cert: '', key: '' };
      while (!signal.aborted) {
        try {
          const cert = await readFile(join(directory, 'tls.crt'), 'utf8');
          const key = await readFile(join(directory, 'tls.key'), 'utf8');
          if (cert !== last.cert || key !== last.key) {
            // A pair that was read during the replacement does not match; then `use` throws and the next poll reads the right one.
            use({ cert, key });
            last = { cert, key };
          }
        } catch (error) {
          log.warn({ reason: explain(error), directory }, 'no valid certificate yet');
        }
        await sleep(last.cert === '' ? Math.min(period, 1_000) : period, signal, clock).catch(
          () => undefined,
        );
      }
    },
  };
}
