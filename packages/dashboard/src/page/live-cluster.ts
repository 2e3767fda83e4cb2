/** One cluster as this tab sees it: a snapshot, then deltas; read again after a gap; asked for every few seconds where no stream can be had. */
import { batch, signal } from '@preact/signals';
import type { Clock } from '@slurm-operator/slurm';
import type { Figures, FreshnessAt, LiveState } from '../live/figures.ts';
import type { NodeRow } from '../live/node-row.ts';
import { applied, type Delta } from '../live/versioned-table.ts';
import { read } from './server.ts';

interface Snapshot {
  readonly version: number;
  readonly rows: readonly NodeRow[];
}

/** From one try to the next; doubled up to the second number, and spread by chance. */
const retryMs = { first: 1_000, most: 10_000 };
/** The server says something every 15 s. A connection may be dead without a sign, and a proxy may hold events back. */
const silenceMs = { atFirst: 10_000, later: 40_000 };

/** What the server sends, by the name of the event. */
interface StreamEvents {
  readonly hello: LiveState;
  readonly nodes: Delta<NodeRow>;
  readonly jobs: { readonly version: number };
  readonly figures: { readonly figures: Figures };
  readonly freshness: FreshnessAt;
  readonly resync: unknown;
}

/** With the time of this browser when it arrived: ages do not depend on whose clock is right. */
export interface Received extends FreshnessAt {
  readonly receivedAt: number;
}

type Source = Pick<EventSource, 'addEventListener' | 'close'>;

/** What a tab needs of its browser. */
export interface Browser {
  readonly openStream: (path: string) => Source;
  readonly read: <T>(path: string) => Promise<T>;
  readonly page: Pick<Document, 'hidden' | 'addEventListener' | 'removeEventListener'>;
  readonly clock: Clock;
  readonly random: () => number;
}

const browser = (): Browser => ({
  openStream: (path) => new EventSource(path),
  read,
  page: document,
  clock: {
    now: () => Date.now(),
    schedule: (ms, action) => {
      const timer = setTimeout(action, ms);
      return () => clearTimeout(timer);
    },
  },
  random: () => Math.random(),
});

export class LiveCluster {
  readonly nodes = signal<ReadonlyMap<string, NodeRow>>(new Map());
  readonly figures = signal<Figures | undefined>(undefined);
  readonly freshness = signal<Received | undefined>(undefined);
  /** Grows when some job changed: lists of jobs ask again. */
  readonly jobsVersion = signal(0);
  /** What keeps this tab from being live, as a sentence. */
  readonly problem = signal('');
  readonly base: string;
  #version = 0;
  readonly #browser: Browser;
  #source: Source | undefined;
  #retry = retryMs.first;
  #cancelRetry = () => {};
  #cancelSilence = () => {};
  #closed = false;
  /** Deltas that arrive while the snapshot is on its way. */
  #early: Delta<NodeRow>[] | undefined;

  constructor(namespace: string, cluster: string, given = browser()) {
    this.#browser = given;
    this.base = `/api/clusters/${encodeURIComponent(namespace)}/${encodeURIComponent(cluster)}`;
    given.page.addEventListener('visibilitychange', this.#visibility);
    this.#open();
  }

  close(): void {
    this.#closed = true;
    this.#browser.page.removeEventListener('visibilitychange', this.#visibility);
    this.#stop();
  }

  /** A hidden tab holds no connection: browsers allow six to one server, and a hidden tab shows nothing. */
  readonly #visibility = () => {
    if (this.#browser.page.hidden) this.#stop();
    else if (this.#source === undefined && !this.#closed) this.#open();
  };

  #open(): void {
    this.#cancelRetry();
    if (this.#browser.page.hidden || this.#closed) return;
    const source = this.#browser.openStream(`${this.base}/stream`);
    this.#source = source;
    this.#expect(silenceMs.atFirst);
    const on = <K extends keyof StreamEvents>(name: K, handle: (data: StreamEvents[K]) => void) =>
      source.addEventListener(name, (event) => {
        // A closed stream may have an event on its way.
        if (this.#source !== source) return;
        this.#expect(silenceMs.later);
        handle(JSON.parse((event as MessageEvent<string>).data) as StreamEvents[K]);
      });
    on('hello', (state) => {
      this.#retry = retryMs.first;
      this.problem.value = '';
      this.#take(state);
      void this.#snapshot().catch(() => this.#lost(source));
    });
    on('nodes', (delta) => this.#apply(delta));
    on('jobs', ({ version }) => {
      this.jobsVersion.value = version;
    });
    on('figures', ({ figures }) => {
      this.figures.value = figures;
    });
    on('freshness', (freshness) => {
      this.freshness.value = { ...freshness, receivedAt: this.#browser.clock.now() };
    });
    on('resync', () => void this.#snapshot().catch(() => this.#lost(source)));
    source.addEventListener('error', () => this.#lost(source));
  }

  #take({ figures, freshness, jobs }: LiveState): void {
    batch(() => {
      this.freshness.value = { ...freshness, receivedAt: this.#browser.clock.now() };
      this.figures.value = figures;
      this.jobsVersion.value = jobs;
    });
  }

  #expect(ms: number): void {
    this.#cancelSilence();
    const source = this.#source;
    this.#cancelSilence = this.#browser.clock.schedule(ms, () => this.#lost(source));
  }

  #lost(source: Source | undefined): void {
    if (this.#closed || source !== this.#source) return;
    this.#stop();
    void this.#ask();
  }

  /** Once without a stream; then a stream is tried again. */
  async #ask(): Promise<void> {
    let problem = 'No live stream can be had. This page asks every ten seconds instead.';
    try {
      this.#take(await this.#browser.read<LiveState>(`${this.base}/live`));
      await this.#snapshot();
    } catch {
      problem = 'The connection to the dashboard is lost. What you see is the last that arrived.';
    }
    if (this.#closed || this.#source !== undefined) return;
    // A stream may end for a good reason, such as a new version of the server: the first try to come again is no news.
    if (this.#retry > retryMs.first || problem.startsWith('The')) this.problem.value = problem;
    const { clock, random } = this.#browser;
    const pause = this.#retry * (0.75 + random() / 2);
    this.#retry = Math.min(retryMs.most, this.#retry * 2);
    this.#cancelRetry = clock.schedule(pause, () => this.#open());
  }

  #stop(): void {
    this.#cancelRetry();
    this.#cancelSilence();
    this.#source?.close();
    this.#source = undefined;
    this.#early = undefined;
  }

  async #snapshot(): Promise<void> {
    const early: Delta<NodeRow>[] = [];
    this.#early = early;
    const { version, rows } = await this.#browser.read<Snapshot>(`${this.base}/nodes`);
    // Another one was begun meanwhile.
    if (this.#early !== early) return;
    this.#early = undefined;
    this.#version = version;
    this.nodes.value = new Map(rows.map((row) => [row.key, row]));
    for (const delta of early) this.#apply(delta);
  }

  #apply(delta: Delta<NodeRow>): void {
    if (this.#early !== undefined) {
      this.#early.push(delta);
      return;
    }
    const next = applied({ version: this.#version, rows: this.nodes.value }, delta);
    if (next === undefined) {
      const source = this.#source;
      void this.#snapshot().catch(() => this.#lost(source));
      return;
    }
    this.#version = next.version;
    this.nodes.value = next.rows;
  }
}
