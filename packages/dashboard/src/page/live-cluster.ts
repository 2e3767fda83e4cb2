/** One cluster as this tab sees it: a snapshot, then deltas; read again after a gap; polls where no stream can be had. */
import { batch, signal } from '@preact/signals';
import type { Figures, Freshness } from '../live/figures.ts';
import type { NodeRow } from '../live/node-row.ts';
import { applied, type Delta } from '../live/versioned-table.ts';
import { read } from './server.ts';

interface Snapshot {
  readonly version: number;
  readonly rows: readonly NodeRow[];
}

interface Hello {
  readonly freshness: { readonly nodes: Freshness; readonly jobs: Freshness };
  readonly figures: Figures;
  readonly jobs: number;
}

/** From one try to the next; doubled up to the second number, and spread by chance. */
const retryMs = { first: 1_000, most: 30_000 };

/** What the server sends, by the name of the event. */
interface StreamEvents {
  readonly hello: Hello;
  readonly nodes: Delta<NodeRow>;
  readonly jobs: { readonly version: number };
  readonly figures: { readonly figures: Figures };
  readonly freshness: Hello['freshness'];
  readonly resync: unknown;
}

export class LiveCluster {
  readonly nodes = signal<ReadonlyMap<string, NodeRow>>(new Map());
  readonly figures = signal<Figures | undefined>(undefined);
  readonly freshness = signal<Hello['freshness'] | undefined>(undefined);
  /** Grows when some job changed: lists of jobs ask again. */
  readonly jobsVersion = signal(0);
  /** What keeps this tab from being live, as a sentence. */
  readonly problem = signal('');
  readonly base: string;
  #version = 0;
  #source: EventSource | undefined;
  #retry = retryMs.first;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  /** Deltas that arrive while the snapshot is on its way. */
  #early: Delta<NodeRow>[] | undefined;

  constructor(namespace: string, cluster: string) {
    this.base = `/api/clusters/${encodeURIComponent(namespace)}/${encodeURIComponent(cluster)}`;
    document.addEventListener('visibilitychange', this.#visibility);
    this.#open();
  }

  close(): void {
    this.#closed = true;
    document.removeEventListener('visibilitychange', this.#visibility);
    this.#stop();
  }

  /** A hidden tab holds no connection: browsers allow six to one server, and a hidden tab shows nothing. */
  readonly #visibility = () => {
    if (document.hidden) this.#stop();
    else if (this.#source === undefined && !this.#closed) this.#open();
  };

  #open(): void {
    if (document.hidden || this.#closed) return;
    const source = new EventSource(`${this.base}/stream`);
    this.#source = source;
    const on = <K extends keyof StreamEvents>(name: K, handle: (data: StreamEvents[K]) => void) =>
      source.addEventListener(name, (event) =>
        handle(JSON.parse((event as MessageEvent<string>).data) as StreamEvents[K]),
      );
    on('hello', ({ freshness, figures, jobs }) => {
      this.#retry = retryMs.first;
      batch(() => {
        this.problem.value = '';
        this.freshness.value = freshness;
        this.figures.value = figures;
        this.jobsVersion.value = jobs;
      });
      void this.#snapshot();
    });
    on('nodes', (delta) => this.#apply(delta));
    on('jobs', ({ version }) => {
      this.jobsVersion.value = version;
    });
    on('figures', ({ figures }) => {
      this.figures.value = figures;
    });
    on('freshness', (freshness) => {
      this.freshness.value = freshness;
    });
    on('resync', () => void this.#snapshot());
    source.addEventListener('error', () => this.#lost());
  }

  #lost(): void {
    this.#stop();
    if (this.#closed) return;
    this.problem.value = 'The connection to the dashboard is lost. What you see is the last that arrived.';
    const pause = this.#retry * (0.75 + Math.random() / 2);
    this.#retry = Math.min(retryMs.most, this.#retry * 2);
    this.#timer = setTimeout(() => this.#open(), pause);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }

  async #snapshot(): Promise<void> {
    this.#early = [];
    try {
      const { version, rows } = await read<Snapshot>(`${this.base}/nodes`);
      const early = this.#early;
      this.#early = undefined;
      this.#version = version;
      this.nodes.value = new Map(rows.map((row) => [row.key, row]));
      for (const delta of early) this.#apply(delta);
    } catch {
      this.#early = undefined;
      this.#lost();
    }
  }

  #apply(delta: Delta<NodeRow>): void {
    if (this.#early !== undefined) {
      this.#early.push(delta);
      return;
    }
    const next = applied({ version: this.#version, rows: this.nodes.value }, delta);
    if (next === undefined) {
      void this.#snapshot();
      return;
    }
    this.#version = next.version;
    this.nodes.value = next.rows;
  }
}
