/**
 * Certificates without cert-manager: an authority and a serving certificate in a Secret that all replicas share. They are renewed in
 * time, and the CA bundle is written to the webhook configurations.
 *
 * A new authority is distributed before it signs anything, so that no request fails during a rotation.
 */

import { createAuthority, issueServing } from '@slurm-operator/kubernetes-values';
import type { Client } from '../client/client.ts';
import { type Clock, sleep, systemClock } from '../clock.ts';
import { AlreadyExistsError, ConflictError, explain, InvalidError } from '../errors.ts';
import { type Log, silent } from '../log.ts';
import type { Live, ObjectRef } from '../objects/object.ts';
import { type Secret, secrets } from '../objects/resources.ts';
import type { CertificateSource, ServingCertificate } from './certificate-source.ts';
import { type InjectionTarget, injectBundle } from './inject-bundle.ts';
import { bundle, planCertificates, type StoredCertificates, trustBundle } from './plan-certificates.ts';

export interface SelfSignedOptions {
  /** The Secret that stores them. */
  readonly secret: Required<ObjectRef>;
  /** DNS names of the certificate, such as `<service>.<namespace>.svc`. */
  readonly dnsNames: readonly string[];
  /** Objects that get the CA bundle. */
  readonly inject?: readonly InjectionTarget[];
  /** Lifetime of a serving certificate in milliseconds. @default 90 days */
  readonly lifetime?: number;
  /** Lifetime of an authority in milliseconds. @default 5 years */
  readonly authorityLifetime?: number;
  /** Polling interval of the Secret in milliseconds. @default 10_000 */
  readonly period?: number;
}

const DAY = 24 * 3_600_000;

export class SelfSignedCertificates implements CertificateSource {
  readonly #client: Client;
  readonly #options: SelfSignedOptions;
  readonly #clock: Clock;
  readonly #log: Log;

  /** Pass the unguarded client: every replica serves webhooks, not only the leader. */
  constructor(client: Client, options: SelfSignedOptions, environment: { clock?: Clock; log?: Log } = {}) {
    this.#client = client;
    this.#options = options;
    this.#clock = environment.clock ?? systemClock;
    this.#log = (environment.log ?? silent).child({
      secret: `${options.secret.namespace}/${options.secret.name}`,
    });
  }

  async run(use: (certificate: ServingCertificate) => void, signal: AbortSignal): Promise<void> {
    let last = '';
    while (!signal.aborted) {
      let settled = false;
      try {
        const current = await this.ensure(signal);
        settled = current !== undefined;
        if (current !== undefined && current.cert !== last) {
          use(current);
          last = current.cert;
        }
      } catch (error) {
        if (!signal.aborted)
          this.#log.error({ reason: explain(error) }, 'cannot keep the certificates current');
      }
      const period = settled ? (this.#options.period ?? 10_000) : 1_000;
      await sleep(period * (0.9 + 0.2 * this.#clock.random()), signal, this.#clock).catch(() => undefined);
    }
  }

  /**
   * Renews and distributes what is due, and returns the certificate to serve. Undefined: another replica renewed at the same time, or the
   * bundle is not distributed yet; keep the current certificate.
   */
  async ensure(signal?: AbortSignal): Promise<ServingCertificate | undefined> {
    const { secret, dnsNames } = this.#options;
    const now = this.#clock.now();
    let live = await this.#client.find(secrets, secret, { signal });
    let stored = live === undefined ? undefined : read(live);
    const plan = planCertificates(stored, dnsNames, now);
    if (plan.action !== 'keep') {
      this.#log.info({ why: plan.why }, plan.action);
      stored = await this.#renew(plan.action, stored, now);
      live = await this.#save(live, stored, signal);
    }
    if (live === undefined || stored === undefined) return undefined;
    const { resourceVersion } = live.metadata;
    const isCurrent = async () =>
      (await this.#client.find(secrets, secret, { signal }))?.metadata.resourceVersion === resourceVersion;
    for (const target of this.#options.inject ?? [])
      if (!(await this.#inject(target, stored.caCert, { isCurrent, signal }))) return undefined;
    return { cert: stored.cert, key: stored.key };
  }

  async #renew(
    action: 'new-authority' | 'new-serving',
    stored: StoredCertificates | undefined,
    now: number,
  ): Promise<StoredCertificates> {
    const { dnsNames, secret } = this.#options;
    const lifetime = this.#options.lifetime ?? 90 * DAY;
    if (action === 'new-serving' && stored !== undefined) {
      const authority = { certificatePem: bundle(stored.caCert)[0] ?? '', keyPem: stored.caKey };
      const serving = await issueServing(authority, { hosts: dnsNames, now, lifetime });
      return { ...stored, cert: serving.certificatePem, key: serving.keyPem };
    }
    const authority = await createAuthority({
      name: `${secret.name}-ca`,
      now,
      lifetime: this.#options.authorityLifetime ?? 5 * 365 * DAY,
    });
    const caCert = trustBundle(authority.certificatePem, stored?.caCert ?? '', now);
    if (stored !== undefined && bundle(caCert).length > 1)
      // Keep the old certificate until the new authority is distributed; a later poll replaces it.
      return { ...stored, caCert, caKey: authority.keyPem };
    const serving = await issueServing(authority, { hosts: dnsNames, now, lifetime });
    return { caCert, caKey: authority.keyPem, cert: serving.certificatePem, key: serving.keyPem };
  }

  async #save(
    live: Live<Secret> | undefined,
    stored: StoredCertificates,
    signal?: AbortSignal,
  ): Promise<Live<Secret> | undefined> {
    const encode = (text: string) => Buffer.from(text).toString('base64');
    const data = {
      'ca.crt': encode(stored.caCert),
      'ca.key': encode(stored.caKey),
      'tls.crt': encode(stored.cert),
      'tls.key': encode(stored.key),
    };
    try {
      if (live === undefined) {
        const metadata = this.#options.secret;
        return await this.#client.create(
          secrets,
          { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data },
          { signal },
        );
      }
      return await this.#client.replace(secrets, { ...live, data: { ...live.data, ...data } }, { signal });
    } catch (error) {
      if (error instanceof ConflictError || error instanceof AlreadyExistsError) return undefined;
      throw error;
    }
  }

  async #inject(
    target: InjectionTarget,
    caCert: string,
    options: Parameters<typeof injectBundle>[3],
  ): Promise<boolean> {
    try {
      return await injectBundle(this.#client, target, caCert, options);
    } catch (error) {
      // Changed concurrently: the next poll retries.
      if (!(error instanceof ConflictError) && !(error instanceof InvalidError)) throw error;
      return false;
    }
  }
}

function read(secret: Live<Secret>): StoredCertificates | undefined {
  const decode = (name: string) => Buffer.from(secret.data?.[name] ?? '', 'base64').toString('utf8');
  const stored = {
    caCert: decode('ca.crt'),
    caKey: decode('ca.key'),
    cert: decode('tls.crt'),
    key: decode('tls.key'),
  };
  return stored.caCert === '' ? undefined : stored;
}
