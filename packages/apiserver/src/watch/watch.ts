/** GET with watch=true: a stream of events, one JSON document per line. */
import { expired, internalError } from '../api/errors.ts';
import type { KubeObject } from '../api/types.ts';
import { type WatchOptions, watchOptions } from '../decode/list-options.ts';
import type { Answer, StreamSink } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';
import { fromStorage, groupVersion, type ResourceDefinition } from '../resource/resource-definition.ts';
import { type Selection, selectionOf } from '../resource/selection.ts';
import { negotiate } from '../response/negotiate.ts';
import type { StoreEvent } from '../store/history.ts';
import { type EventLine, eventLines } from './event-lines.ts';
import { freshEnough } from './fresh-enough.ts';
import { watchEvent } from './watch-event.ts';

/** A client that lets this much pile up is cut off, as the real server does with slow watchers. */
const pendingLimit = 64 * 1024 * 1024;
/** While the present objects are sent, the next ones wait for the client to read this much. */
const backlog = 4 * 1024 * 1024;
/** A client that reads nothing of them for so long is not waited for. */
const drainPatience = 30_000;
/** Between bookmarks; towards the end of the watch they come every second. */
const bookmarkPeriod = 60_000;
const lastBookmarks = 2000;
/** Without a timeoutSeconds the server ends a watch after half an hour to an hour. */
const longestWatch = 1800;

export async function watch(context: RequestContext, definition: ResourceDefinition): Promise<Answer> {
  const { query, info } = context;
  const options = watchOptions(query);
  const selection = selectionOf(definition, query, info.name);
  const form = negotiate(context);
  if (options.sendInitialEvents && options.resourceVersion !== '')
    await freshEnough(context, Number(options.resourceVersion));
  const fault =
    options.sendInitialEvents && context.refusesInitialEvents === true
      ? internalError('the store cannot report the progress of a watch')
      : context.watchFault;
  if (fault !== undefined)
    return {
      type: 'stream',
      contentType: 'application/json',
      run(sink) {
        sink.write(`${JSON.stringify({ type: 'ERROR', object: fault.status })}\n`);
        return Promise.resolve();
      },
    };
  return {
    type: 'stream',
    contentType: 'application/json',
    run: (sink) =>
      new Watch(context, definition, options, selection, eventLines(context, definition, form), sink).run(),
  };
}

class Watch {
  readonly #context: RequestContext;
  readonly #definition: ResourceDefinition;
  readonly #options: WatchOptions;
  readonly #selection: Selection;
  readonly #line: EventLine;
  readonly #sink: StreamSink;
  readonly #namespace: string;
  readonly #from: number;
  #undo: (() => void)[] = [];
  #end: () => void = () => {};

  constructor(
    context: RequestContext,
    definition: ResourceDefinition,
    options: WatchOptions,
    selection: Selection,
    line: EventLine,
    sink: StreamSink,
  ) {
    this.#context = context;
    this.#definition = definition;
    this.#options = options;
    this.#selection = selection;
    this.#line = line;
    this.#sink = sink;
    this.#namespace = definition.namespaced ? context.info.namespace : '';
    this.#from = Number(options.resourceVersion);
  }

  /** Resolves when the client, the clock or the server ended it. */
  async run(): Promise<void> {
    const over = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    const { store, registry } = this.#context.parts;
    const since = await this.#begin();
    // From here to the subscription nothing else runs, so no event falls between the two.
    if (since === undefined || !this.#catchUp(since)) return;
    this.#undo = [
      store.subscribe((event) => this.#forward(event)),
      store.onRestore(() => this.#end()),
      registry.onChange(() => this.#endIfGone()),
      ...this.#timers(),
    ];
    const { signal } = this.#sink;
    if (signal.aborted) this.#end();
    else signal.addEventListener('abort', this.#end, { once: true });
    await over;
    for (const undo of this.#undo) undo();
  }

  /** Sends the existing objects if requested. Returns their resourceVersion, undefined if the client is gone. */
  async #begin(): Promise<number | undefined> {
    if (!this.#isInitial) return this.#from;
    const { store } = this.#context.parts;
    const { revision } = store;
    for (const stored of store.list(this.#definition.storage, this.#namespace)) {
      const object = fromStorage(this.#definition, stored);
      if (this.#selection.matches(object)) this.#send('ADDED', object);
      if (this.#sink.pending > backlog && !(await this.#drained())) return undefined;
    }
    return revision;
  }

  /** What happened since then; false when that is not known any more. */
  #catchUp(since: number): boolean {
    const { store } = this.#context.parts;
    const missed = store.eventsAfter(since);
    if (missed === undefined) {
      const text =
        this.#definition.plural === 'events'
          ? // The real server keeps no cache of events, and its store says it in other words.
            'The resourceVersion for the provided watch is too old.'
          : `too old resource version: ${since} (${store.compactedRevision})`;
      this.#sink.write(`${JSON.stringify({ type: 'ERROR', object: expired(text).status })}\n`);
      return false;
    }
    for (const event of missed) this.#forward(event);
    const { resourceVersion, sendInitialEvents, bookmarks } = this.#options;
    if (bookmarks && (sendInitialEvents || resourceVersion === '0')) this.#bookmark(true);
    return true;
  }

  get #isInitial(): boolean {
    const { resourceVersion, sendInitialEvents } = this.#options;
    return resourceVersion === '' || resourceVersion === '0' || sendInitialEvents;
  }

  /** Waits until the client has read most of what was sent; false when it does not. */
  async #drained(): Promise<boolean> {
    const { signal } = this.#sink;
    const deadline = performance.now() + drainPatience;
    while (this.#sink.pending > backlog) {
      if (signal.aborted || performance.now() > deadline) return false;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return !signal.aborted;
  }

  /** Runs inside the write that it reports, which must not fail because of a watch. */
  #forward(event: StoreEvent): void {
    try {
      this.#tell(event);
    } catch {
      this.#end();
    }
  }

  #tell(event: StoreEvent): void {
    if (event.resource !== this.#definition.storage || event.revision <= this.#from) return;
    if (this.#namespace !== '' && event.object.metadata.namespace !== this.#namespace) return;
    const seen = watchEvent(this.#definition, this.#selection, event);
    if (seen !== undefined) this.#send(seen.type, seen.object);
  }

  #send(type: string, object: KubeObject): void {
    this.#sink.write(this.#line(type, object));
    if (this.#sink.pending > pendingLimit) this.#end();
  }

  #bookmark(initialEventsEnd = false): void {
    const { store } = this.#context.parts;
    this.#send('BOOKMARK', {
      kind: this.#definition.kind,
      apiVersion: groupVersion(this.#definition),
      metadata: {
        resourceVersion: String(Math.max(store.revision, this.#from)),
        ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
      },
    });
  }

  /** The definition was deleted: nothing can come any more. */
  #endIfGone(): void {
    const { group, version, plural } = this.#definition;
    if (this.#context.parts.registry.find(group, version, plural) === undefined) this.#end();
  }

  #timers(): (() => void)[] {
    const { timeoutSeconds, bookmarks } = this.#options;
    const { environment } = this.#context.parts;
    const lasts = (timeoutSeconds > 0 ? timeoutSeconds : longestWatch * (1 + environment.random())) * 1000;
    const ends = environment.now() + lasts;
    const timers = new Set<NodeJS.Timeout>();
    const after = (milliseconds: number, act: () => void): void => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        act();
      }, milliseconds);
      timers.add(timer);
    };
    after(lasts, () => this.#end());
    const next = (): void => {
      const left = ends - environment.now();
      after(left <= lastBookmarks ? 1000 : Math.min(bookmarkPeriod, left - lastBookmarks), () => {
        this.#bookmark();
        next();
      });
    };
    if (bookmarks) next();
    return [() => timers.forEach((timer) => clearTimeout(timer))];
  }
}
