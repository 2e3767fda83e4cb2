/** Combines repeated events into series and limits the rate per object. No I/O. */
import type { Clock } from '../clock.ts';
import type { DeepReadonly, KubeObject } from '../objects/object.ts';

export interface EventDraft {
  readonly regarding: DeepReadonly<KubeObject>;
  readonly type: 'Normal' | 'Warning';
  /** One CamelCase word for programs. */
  readonly reason: string;
  /** What was done or tried, one CamelCase word. @default the reason */
  readonly action?: string;
  /** A sentence for people, at most 1 KiB of it is kept. */
  readonly note: string;
}

/** What to write for a draft: a first event, or the new count of a series. */
export interface Sighting {
  readonly id: string;
  readonly draft: EventDraft;
  readonly count: number;
}

interface Series {
  count: number;
  lastSeen: number;
}

/** After this long without a repetition the event is a new one (as in the API's rule for series). */
const SERIES_WINDOW = 6 * 60_000;
/** Number of different notes of one reason; further ones are combined into one. */
const DISTINCT_NOTES = 10;
/** Per object: a burst of events, then one in this many milliseconds. */
const BURST = 25;
const REFILL = 300_000;

export class EventAggregator {
  readonly #clock: Clock;
  readonly #series = new Map<string, Series>();
  readonly #notes = new Map<string, { notes: Set<string>; since: number }>();
  readonly #budgets = new Map<string, { tokens: number; at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: the object exceeded its rate limit; write nothing. */
  take(draft: EventDraft): Sighting | undefined {
    const now = this.#clock.monotonic();
    this.#forget(now);
    const object = `${draft.regarding.metadata.uid ?? ''} ${draft.regarding.kind} ${draft.regarding.metadata.name}`;
    const group = `${object} ${draft.type} ${draft.reason} ${draft.action ?? ''}`;
    const combined = this.#combined(group, draft, now);
    const id = `${group} ${combined.note}`;
    const known = this.#series.get(id);
    if (known !== undefined && now - known.lastSeen < SERIES_WINDOW) {
      known.count += 1;
      known.lastSeen = now;
      return { id, draft: combined, count: known.count };
    }
    if (!this.#afford(object, now)) return undefined;
    this.#series.set(id, { count: 1, lastSeen: now });
    return { id, draft: combined, count: 1 };
  }

  #combined(group: string, draft: EventDraft, now: number): EventDraft {
    const known = this.#notes.get(group) ?? { notes: new Set<string>(), since: now };
    this.#notes.set(group, known);
    if (known.notes.has(draft.note)) return draft;
    if (known.notes.size < DISTINCT_NOTES) {
      known.notes.add(draft.note);
      return draft;
    }
    return { ...draft, note: `(one of many such events) ${[...known.notes][0] ?? ''}` };
  }

  #afford(object: string, now: number): boolean {
    const budget = this.#budgets.get(object) ?? { tokens: BURST, at: now };
    budget.tokens = Math.min(BURST, budget.tokens + (now - budget.at) / REFILL);
    budget.at = now;
    this.#budgets.set(object, budget);
    if (budget.tokens < 1) return false;
    budget.tokens -= 1;
    return true;
  }

  /** Keeps the maps small: they only grow while there is something to remember. */
  #forget(now: number): void {
    if (this.#series.size + this.#notes.size + this.#budgets.size < 4096) return;
    for (const [id, { lastSeen }] of this.#series)
      if (now - lastSeen > SERIES_WINDOW) this.#series.delete(id);
    for (const [id, { since }] of this.#notes) if (now - since > SERIES_WINDOW) this.#notes.delete(id);
    for (const [id, { at }] of this.#budgets) if (now - at > REFILL) this.#budgets.delete(id);
    // Still too many: drop the oldest.
    for (const map of [this.#series, this.#notes, this.#budgets])
      for (const id of map.keys()) {
        if (map.size <= 4096) break;
        map.delete(id);
      }
  }
}
