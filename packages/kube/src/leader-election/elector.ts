/**
 * Leadership through a Lease. Safety does not depend on anyone's wall clock:
 * - a candidate takes the lease over only after it has itself watched the same record for a whole lease duration;
 * - the leader counts its time from before the request that renewed the lease was sent, and holds back every guarded
 *   write once `renewDeadline` of it is over, also when it was frozen meanwhile and its timers have not yet fired.
 */
import type { Client } from '../client/client.ts';
import { type Clock, sleep, systemClock } from '../clock.ts';
import { AlreadyExistsError, ConflictError, explain, NotLeaderError } from '../errors.ts';
import { type Log, silent } from '../log.ts';
import type { Live, ObjectRef } from '../objects/object.ts';
import { type Lease, leases } from '../objects/resources.ts';

export interface LeaderElectionOptions {
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Must differ between replicas. */
  readonly identity: string;
  /** Milliseconds a silent leader is waited for. @default 15_000 */
  readonly leaseDuration?: number;
  /** Milliseconds after which a leader that could not renew stops. Must be below `leaseDuration`. @default 10_000 */
  readonly renewDeadline?: number;
  /** @default 2_000 */
  readonly retryPeriod?: number;
}

export class LeaderElector {
  readonly identity: string;
  readonly #client: Client;
  readonly #ref: Required<ObjectRef>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #leaseDuration: number;
  readonly #renewDeadline: number;
  readonly #retryPeriod: number;
  readonly #lost = new AbortController();
  /** The lease as we last saw it, and when (monotonic) it last changed. */
  #seen: { lease: Live<Lease>; at: number } | undefined;
  /** When the request that last renewed was begun; undefined: not leading. */
  #renewed: { monotonic: number; wall: number } | undefined;
  /** The lease was given back, or is about to be: it is not renewed any more. */
  #released = false;
  #renewing: Promise<boolean> | undefined;

  constructor(
    client: Client,
    options: LeaderElectionOptions,
    environment: { clock?: Clock; log?: Log } = {},
  ) {
    this.#client = client;
    this.identity = options.identity;
    this.#ref = { namespace: options.namespace, name: options.name };
    this.#leaseDuration = options.leaseDuration ?? 15_000;
    this.#renewDeadline = options.renewDeadline ?? 10_000;
    this.#retryPeriod = options.retryPeriod ?? 2_000;
    if (!(this.#renewDeadline < this.#leaseDuration) || !(this.#retryPeriod < this.#renewDeadline))
      throw new RangeError(
        `leader election needs retryPeriod (${this.#retryPeriod}) < renewDeadline (${this.#renewDeadline}) < leaseDuration (${this.#leaseDuration})`,
      );
    this.#clock = environment.clock ?? systemClock;
    this.#log = (environment.log ?? silent).child({ lease: `${this.#ref.namespace}/${this.#ref.name}` });
  }

  /** Who holds the lease, as far as we know. */
  get holder(): string | undefined {
    return this.#seen?.lease.spec?.holderIdentity;
  }

  /** Aborted when leadership is lost. It does not come back: the program must start over. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get leading(): boolean {
    if (this.#renewed === undefined || this.#released || this.#lost.signal.aborted) return false;
    const elapsed = this.#clock.monotonic() - this.#renewed.monotonic;
    // A machine that slept stops its monotonic clock; the wall clock shows it. Both must agree that there is time left.
    const wall = this.#clock.now() - this.#renewed.wall;
    return Math.max(elapsed, wall) < this.#renewDeadline;
  }

  /** The guard of every write that only the leader may make. */
  readonly assertLeading = (): void => {
    if (!this.leading)
      throw new NotLeaderError(
        `${this.identity} does not hold the lease ${this.#ref.namespace}/${this.#ref.name}`,
      );
  };

  /** Resolves when this process leads; keeps the lease until {@link release} or {@link lost}. */
  async acquire(signal: AbortSignal): Promise<void> {
    this.#log.info({ identity: this.identity }, 'waiting to lead');
    while (!(await this.#attempt(signal)))
      await sleep(this.#retryPeriod * (1 + 0.2 * this.#clock.random()), signal, this.#clock);
    this.#log.info({ identity: this.identity }, 'leading');
  }

  /** Renews until the signal is aborted or leadership is lost. */
  async hold(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#lost.signal.aborted) {
      try {
        await sleep(this.#retryPeriod, signal, this.#clock);
      } catch {
        return;
      }
      if (this.#released) return;
      this.#renewing = this.#attempt(signal);
      if (await this.#renewing) continue;
      if (this.#released) return;
      const renewed = this.#renewed?.monotonic ?? Number.NEGATIVE_INFINITY;
      const taken = this.holder !== undefined && this.holder !== this.identity;
      if (taken) this.#lose(`${this.holder === '' ? 'nobody' : this.holder} holds the lease now`);
      else if (this.#clock.monotonic() - renewed >= this.#renewDeadline)
        this.#lose('the lease could not be renewed in time');
    }
  }

  /** Gives the lease back, so that the next candidate need not wait for it to expire. */
  async release(signal?: AbortSignal): Promise<void> {
    if (this.#renewed === undefined || this.#lost.signal.aborted) return;
    this.#released = true;
    // A renewal under way would change the lease under us, and one that came after would take it back.
    await this.#renewing;
    const held = this.#seen?.lease;
    if (held === undefined) return;
    this.#renewed = undefined;
    const spec = {
      ...held.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: microTime(this.#clock.now()),
    };
    try {
      await this.#client.replace(
        leases,
        { ...held, spec },
        {
          signal,
          timeout: this.#retryPeriod,
        },
      );
      this.#log.info({ identity: this.identity }, 'gave the lease back');
    } catch (error) {
      this.#log.warn({ reason: explain(error) }, 'could not give the lease back; it will expire');
    }
  }

  #lose(why: string): void {
    this.#renewed = undefined;
    this.#log.error({ identity: this.identity }, `leadership lost: ${why}`);
    this.#lost.abort(new NotLeaderError(`leadership lost: ${why}`));
  }

  /** Takes or renews the lease once; `false`: not ours this time. */
  async #attempt(signal: AbortSignal): Promise<boolean> {
    const began = { monotonic: this.#clock.monotonic(), wall: this.#clock.now() };
    try {
      const lease = await this.#write(signal, began.wall);
      if (lease === undefined) return false;
      this.#see(lease);
      this.#renewed = began;
      return true;
    } catch (error) {
      if (!signal.aborted) this.#log.warn({ reason: explain(error) }, 'cannot take or renew the lease');
      return false;
    }
  }

  async #write(signal: AbortSignal, now: number): Promise<Live<Lease> | undefined> {
    const call = { signal, timeout: Math.max(this.#retryPeriod, this.#renewDeadline / 2) };
    const leaseDurationSeconds = Math.ceil(this.#leaseDuration / 1000);
    const mine = { holderIdentity: this.identity, leaseDurationSeconds, renewTime: microTime(now) };
    if (this.#renewed !== undefined && this.#seen !== undefined) {
      // The usual case, without a read: if anyone touched the lease, the resourceVersion refuses this.
      try {
        const { lease } = this.#seen;
        return await this.#client.replace(leases, { ...lease, spec: { ...lease.spec, ...mine } }, call);
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
      }
    }
    const found = await this.#client.find(leases, this.#ref, call);
    if (found === undefined) {
      const spec = { ...mine, acquireTime: microTime(now), leaseTransitions: 0 };
      try {
        return await this.#client.create(
          leases,
          { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: this.#ref, spec },
          call,
        );
      } catch (error) {
        if (error instanceof AlreadyExistsError) return undefined;
        throw error;
      }
    }
    this.#see(found);
    const holder = found.spec?.holderIdentity ?? '';
    const ours = holder === this.identity;
    if (!ours && (this.#renewed !== undefined || this.#isHeld())) return undefined;
    const spec = {
      ...found.spec,
      ...mine,
      ...(ours
        ? {}
        : { acquireTime: microTime(now), leaseTransitions: (found.spec?.leaseTransitions ?? 0) + 1 }),
    };
    try {
      return await this.#client.replace(leases, { ...found, spec }, call);
    } catch (error) {
      if (error instanceof ConflictError) return undefined;
      throw error;
    }
  }

  /** Whether the holder must be waited for: its record changed within the duration that it promised. */
  #isHeld(): boolean {
    const seen = this.#seen;
    if (seen === undefined || (seen.lease.spec?.holderIdentity ?? '') === '') return false;
    const promised = (seen.lease.spec?.leaseDurationSeconds ?? 0) * 1000;
    return this.#clock.monotonic() - seen.at < Math.max(promised, this.#leaseDuration);
  }

  #see(lease: Live<Lease>): void {
    if (this.#seen?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;
    this.#seen = { lease, at: this.#clock.monotonic() };
  }
}

/** Lease times carry six digits; fewer are refused. */
function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
