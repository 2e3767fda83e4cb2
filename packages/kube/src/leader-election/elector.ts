/**
 * Leader election with a Lease. Safety does not depend on wall clocks:
 * - a candidate acquires the lease only after it has observed the same record for a whole lease duration;
 * - the leader counts `renewDeadline` from the time before it sent the last renewal, and after that refuses every guarded write, even if
 *   the process was suspended and its timers have not fired.
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
  /** Milliseconds without a renewal after which another candidate may acquire the lease. @default 15_000 */
  readonly leaseDuration?: number;
  /** Milliseconds without a renewal after which the leader stops. Must be less than `leaseDuration`. @default 10_000 */
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
  /** The lease as last observed, and when (monotonic) it last changed. */
  #seen: { lease: Live<Lease>; at: number } | undefined;
  /** When the last successful renewal was sent; undefined: not leading. */
  #renewed: { monotonic: number; wall: number } | undefined;
  /** The lease is or is being released: it is no longer renewed. */
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

  /** The holder of the lease as last observed. */
  get holder(): string | undefined {
    return this.#seen?.lease.spec?.holderIdentity;
  }

  /** Aborted when leadership is lost. It cannot be regained: the program must restart. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get leading(): boolean {
    if (this.#renewed === undefined || this.#released || this.#lost.signal.aborted) return false;
    const elapsed = this.#clock.monotonic() - this.#renewed.monotonic;
    // The monotonic clock stops while a machine is suspended; the wall clock does not. Both must show time left.
    const wall = this.#clock.now() - this.#renewed.wall;
    return Math.max(elapsed, wall) < this.#renewDeadline;
  }

  /** The guard of writes that only the leader may make. */
  readonly assertLeading = (): void => {
    if (!this.leading)
      throw new NotLeaderError(
        `${this.identity} does not hold the lease ${this.#ref.namespace}/${this.#ref.name}`,
      );
  };

  /** Resolves when this process leads; keeps the lease until {@link release} or {@link lost}. */
  async acquire(signal: AbortSignal): Promise<void> {
    this.#log.info({ identity: this.identity }, 'waiting for leadership');
    while (!(await this.#attempt(signal)))
      await sleep(this.#retryPeriod * (1 + 0.2 * this.#clock.random()), signal, this.#clock);
    this.#log.info({ identity: this.identity }, 'became leader');
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
      if (taken)
        this.#lose(this.holder === '' ? 'the lease has no holder now' : `${this.holder} holds the lease now`);
      else if (this.#clock.monotonic() - renewed >= this.#renewDeadline)
        this.#lose('the lease could not be renewed in time');
    }
  }

  /** Releases the lease, so that the next candidate need not wait until it expires. */
  async release(signal?: AbortSignal): Promise<void> {
    if (this.#renewed === undefined || this.#lost.signal.aborted) return;
    this.#released = true;
    // A concurrent renewal would change the lease, and a later one would acquire it again.
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
      this.#log.info({ identity: this.identity }, 'released the lease');
    } catch (error) {
      this.#log.warn({ reason: explain(error) }, 'could not release the lease; it will expire');
    }
  }

  #lose(why: string): void {
    this.#renewed = undefined;
    this.#log.error({ identity: this.identity }, `leadership lost: ${why}`);
    this.#lost.abort(new NotLeaderError(`leadership lost: ${why}`));
  }

  /** Tries once to acquire or renew the lease. */
  async #attempt(signal: AbortSignal): Promise<boolean> {
    const began = { monotonic: this.#clock.monotonic(), wall: this.#clock.now() };
    try {
      const lease = await this.#write(signal, began.wall);
      if (lease === undefined) return false;
      this.#see(lease);
      this.#renewed = began;
      return true;
    } catch (error) {
      if (!signal.aborted) this.#log.warn({ reason: explain(error) }, 'cannot acquire or renew the lease');
      return false;
    }
  }

  async #write(signal: AbortSignal, now: number): Promise<Live<Lease> | undefined> {
    const call = { signal, timeout: Math.max(this.#retryPeriod, this.#renewDeadline / 2) };
    const leaseDurationSeconds = Math.ceil(this.#leaseDuration / 1000);
    const mine = { holderIdentity: this.identity, leaseDurationSeconds, renewTime: microTime(now) };
    if (this.#renewed !== undefined && this.#seen !== undefined) {
      // The usual case, without a read: if the lease was changed, the resourceVersion conflicts.
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

  /** Whether the lease has not expired: its record changed within its lease duration. */
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

/** Times of a Lease need microseconds; the server refuses fewer digits. */
function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
