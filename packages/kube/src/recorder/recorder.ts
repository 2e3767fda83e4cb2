/** Records events in the background. A failure to record must not affect a reconcile: no method throws or waits. */
import type { Client } from '../client/client.ts';
import { type Clock, sleep, systemClock } from '../clock.ts';
import { explain, NotFoundError } from '../errors.ts';
import { type Log, silent } from '../log.ts';
import type { Live } from '../objects/object.ts';
import { type Event, events } from '../objects/resources.ts';
import { EventAggregator, type EventDraft, type Sighting } from './aggregate.ts';

export interface RecorderOptions {
  /** The reporting controller, such as `example.org/name`. */
  readonly controller: string;
  /** The reporting instance: this process. */
  readonly instance: string;
  /** Milliseconds between two writes of the count of a repeated event. @default 30_000 */
  readonly seriesPeriod?: number;
}

/** Events waiting to be written; more are dropped. */
const LIMIT = 1_000;
const NOTE_BYTES = 1_024;

interface Written {
  event: Live<Event>;
  count: number;
  at: number;
}

export class EventRecorder {
  readonly #client: Client;
  readonly #options: RecorderOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #aggregator: EventAggregator;
  /** The latest count of each event that is not written yet. */
  readonly #pending = new Map<string, Sighting>();
  readonly #written = new Map<string, Written>();
  #wake: () => void = () => undefined;
  #dropped = 0;

  constructor(client: Client, options: RecorderOptions, environment: { clock?: Clock; log?: Log } = {}) {
    this.#client = client;
    this.#options = options;
    this.#clock = environment.clock ?? systemClock;
    this.#log = environment.log ?? silent;
    this.#aggregator = new EventAggregator(this.#clock);
  }

  /** How many events were not written because there were too many. */
  get dropped(): number {
    return this.#dropped;
  }

  normal(regarding: EventDraft['regarding'], reason: string, note: string, action?: string): void {
    this.record({ regarding, type: 'Normal', reason, note, ...(action === undefined ? {} : { action }) });
  }

  warning(regarding: EventDraft['regarding'], reason: string, note: string, action?: string): void {
    this.record({ regarding, type: 'Warning', reason, note, ...(action === undefined ? {} : { action }) });
  }

  record(draft: EventDraft): void {
    const sighting = this.#aggregator.take({ ...draft, note: clip(draft.note) });
    if (sighting === undefined || (this.#pending.size >= LIMIT && !this.#pending.has(sighting.id))) {
      this.#dropped += 1;
      return;
    }
    this.#pending.set(sighting.id, sighting);
    this.#wake();
  }

  /** Writes recorded events until the signal is aborted, then for at most two seconds those that are left. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const wait = await this.#flush(signal);
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      const either = AbortSignal.any([signal, woken.signal]);
      if (wait === undefined && this.#pending.size > 0) continue;
      await sleep(wait ?? 3_600_000, either, this.#clock).catch(() => undefined);
    }
    await this.#flush(AbortSignal.timeout(2_000), true);
  }

  /** Writes the events that are due. Returns the milliseconds until the next one, undefined if there is none. */
  async #flush(signal: AbortSignal, all = false): Promise<number | undefined> {
    let next: number | undefined;
    for (const [id, sighting] of this.#pending) {
      if (signal.aborted) return undefined;
      const written = this.#written.get(id);
      const due =
        written === undefined
          ? 0
          : written.at + (this.#options.seriesPeriod ?? 30_000) - this.#clock.monotonic();
      if (due > 0 && sighting.count > 2 && !all) {
        next = Math.min(next ?? due, due);
        continue;
      }
      this.#pending.delete(id);
      try {
        await this.#write(id, sighting, written, signal);
      } catch (error) {
        this.#dropped += 1;
        this.#log.debug({ reason: explain(error), event: sighting.draft.reason }, 'an event was not written');
      }
    }
    return next;
  }

  async #write(
    id: string,
    sighting: Sighting,
    written: Written | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { draft, count } = sighting;
    const at = this.#clock.monotonic();
    const time = new Date(this.#clock.now()).toISOString().replace('Z', '000Z');
    const call = { signal, timeout: 10_000 };
    if (written !== undefined && count > written.count) {
      try {
        const series = { count, lastObservedTime: time };
        const event = await this.#client.mergePatch(events, written.event.metadata, { series }, call);
        this.#written.set(id, { event, count, at });
        return;
      } catch (error) {
        // The server removes events after their TTL; then create a new one.
        if (!(error instanceof NotFoundError)) throw error;
      }
    }
    const { regarding } = draft;
    const { name, namespace, uid, resourceVersion } = regarding.metadata;
    const event = await this.#client.create(
      events,
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { namespace: namespace ?? 'default', generateName: prefixFor(name) },
        eventTime: time,
        type: draft.type,
        reason: draft.reason,
        action: draft.action ?? draft.reason,
        // Clipped again: the aggregator may have added a prefix.
        note: clip(draft.note),
        reportingController: this.#options.controller,
        reportingInstance: this.#options.instance.slice(0, 128),
        regarding: {
          apiVersion: regarding.apiVersion,
          kind: regarding.kind,
          name,
          ...(namespace === undefined ? {} : { namespace }),
          ...(uid === undefined ? {} : { uid }),
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        },
      },
      call,
    );
    if (this.#written.size > 4_096) this.#written.delete(this.#written.keys().next().value ?? '');
    this.#written.set(id, { event, count, at });
  }
}

/** The server accepts a prefix that ends with a dash, but not with a dot. */
function prefixFor(name: string): string {
  return `${name.slice(0, 200).replace(/[-.]+$/, '')}-`;
}

function clip(note: string): string {
  if (Buffer.byteLength(note) <= NOTE_BYTES) return note;
  const bytes = Buffer.from(note).subarray(0, NOTE_BYTES - 3);
  // Cutting may leave half a character at the end.
  return `${bytes.toString('utf8').replace(/\uFFFD+$/, '')}…`;
}
