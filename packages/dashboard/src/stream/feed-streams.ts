/** The stream of each cluster: what its feed announces, once for all browsers that look at it. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '@slurm-operator/slurm';
import type { ClusterViews } from '../api/cluster-view.ts';
import type { FeedEvent } from '../feed/cluster-feed.ts';
import type { ClusterRef } from '../identity/access.ts';
import type { StreamOwner } from '../identity/sessions.ts';
import { EventStreams, serverEvent } from './event-stream.ts';

export interface FeedStreamsOptions {
  readonly clock: Clock;
  readonly views: ClusterViews;
}

interface Followed {
  readonly streams: EventStreams;
  readonly unsubscribe: () => void;
}

/** Jobs and figures may change with every list; a page needs them no more often than it can draw. */
const quietMs = 1_000;

export class FeedStreams implements Disposable {
  readonly #options: FeedStreamsOptions;
  readonly #followed = new Map<string, Followed>();
  readonly #waiting = new Map<string, () => void>();

  constructor(options: FeedStreamsOptions) {
    this.#options = options;
  }

  open(cluster: ClusterRef, owner: StreamOwner, response: ServerResponse): void {
    const view = this.#options.views.find(cluster);
    const key = `${cluster.namespace}/${cluster.name}`;
    if (view === undefined) {
      response.writeHead(404).end();
      return;
    }
    const { streams } = this.#follow(key, cluster, (listener) => view.feed.subscribe(listener));
    const opened = streams.open(response, owner, [serverEvent('hello', view.feed.live)]);
    if (opened !== 'opened') {
      // The page falls back to asking now and then.
      response.writeHead(503, { 'Retry-After': '30', 'Content-Type': 'application/json' });
      response.end(
        JSON.stringify({ message: 'Too many pages are open. This one asks every ten seconds instead.' }),
      );
    }
  }

  endOf(user: string): void {
    for (const { streams } of this.#followed.values()) streams.endOf(user);
  }

  [Symbol.dispose](): void {
    for (const cancel of this.#waiting.values()) cancel();
    for (const { streams, unsubscribe } of this.#followed.values()) {
      unsubscribe();
      streams[Symbol.dispose]();
    }
    this.#followed.clear();
  }

  #follow(
    key: string,
    cluster: ClusterRef,
    subscribe: (listener: (event: FeedEvent) => void) => () => void,
  ): Followed {
    const known = this.#followed.get(key);
    if (known !== undefined) return known;
    const streams = new EventStreams({
      clock: this.#options.clock,
      heartbeat: () => serverEvent('freshness', this.#options.views.find(cluster)?.feed.freshness ?? {}),
    });
    const unsubscribe = subscribe((event) => this.#announce(key, streams, event));
    const followed = { streams, unsubscribe };
    this.#followed.set(key, followed);
    return followed;
  }

  /** Its browsers come again, and get the streams of the feed that took its place. */
  #drop(key: string): void {
    const followed = this.#followed.get(key);
    this.#followed.delete(key);
    followed?.unsubscribe();
    followed?.streams[Symbol.dispose]();
  }

  #announce(key: string, streams: EventStreams, event: FeedEvent): void {
    const { type, ...data } = event;
    if (type === 'closed') {
      this.#drop(key);
      return;
    }
    if (streams.size === 0) return;
    if (type === 'nodes') {
      const { delta } = event;
      streams.send(serverEvent(type, delta, delta.to));
      return;
    }
    if (type === 'freshness') {
      streams.send(serverEvent(type, data));
      return;
    }
    // The last one of its kind in a second is enough.
    const name = `${key} ${type}`;
    this.#waiting.get(name)?.();
    const cancel = this.#options.clock.schedule(quietMs, () => {
      this.#waiting.delete(name);
      streams.send(serverEvent(type, data));
    });
    this.#waiting.set(name, cancel);
  }
}
