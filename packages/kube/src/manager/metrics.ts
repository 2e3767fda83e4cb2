/** Prometheus metrics with the names of controller-runtime, so that existing dashboards work. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ControllerObserver } from '../controller/controller.ts';
import type { TransportOptions } from '../transport/transport.ts';

const QUEUE_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

export class Metrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];
  readonly #depth = this.#gauge('workqueue_depth', 'Current depth of workqueue', ['name', 'controller']);
  readonly #adds = this.#counter('workqueue_adds_total', 'Adds handled by workqueue', ['name', 'controller']);
  readonly #retries = this.#counter('workqueue_retries_total', 'Retries handled by workqueue', [
    'name',
    'controller',
  ]);
  readonly #waited = this.#histogram(
    'workqueue_queue_duration_seconds',
    'How long an item stays in workqueue before being asked for',
    ['name', 'controller'],
    QUEUE_BUCKETS,
  );
  readonly #worked = this.#histogram(
    'workqueue_work_duration_seconds',
    'How long processing an item from workqueue takes',
    ['name', 'controller'],
    QUEUE_BUCKETS,
  );
  readonly #reconciles = this.#counter(
    'controller_runtime_reconcile_total',
    'Reconciliations per controller and result',
    ['controller', 'result'],
  );
  readonly #errors = this.#counter(
    'controller_runtime_reconcile_errors_total',
    'Reconciliations that failed',
    ['controller'],
  );
  readonly #terminal = this.#counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Reconciliations that failed with a terminal error',
    ['controller'],
  );
  readonly #reconcileTime = this.#histogram(
    'controller_runtime_reconcile_time_seconds',
    'Length of time per reconciliation',
    ['controller'],
    RECONCILE_BUCKETS,
  );
  readonly #workers = this.#gauge(
    'controller_runtime_max_concurrent_reconciles',
    'Maximum number of concurrent reconciles',
    ['controller'],
  );
  readonly #active = this.#gauge('controller_runtime_active_workers', 'Number of workers in use', [
    'controller',
  ]);
  readonly #overdue = this.#gauge(
    'controller_runtime_overdue_reconciles',
    'Reconciles that are still running after they were aborted',
    ['controller'],
  );
  readonly #requests = this.#counter(
    'rest_client_requests_total',
    'Requests to the API server by code and method',
    ['code', 'method', 'host'],
  );
  readonly #requestTime = this.#histogram(
    'rest_client_request_duration_seconds',
    'Time until the API server began its response',
    ['verb', 'host'],
    REQUEST_BUCKETS,
  );
  readonly #leading = this.#gauge('leader_election_master_status', 'Whether this replica is the leader', [
    'name',
  ]);
  readonly #webhooks = this.#counter(
    'controller_runtime_webhook_requests_total',
    'Admission requests by code',
    ['webhook', 'code'],
  );
  readonly #webhookTime = this.#histogram(
    'controller_runtime_webhook_latency_seconds',
    'Duration of admission requests',
    ['webhook'],
    RECONCILE_BUCKETS,
  );

  /** Adds process, memory, garbage collection and event-loop-lag metrics of Node. Once per process is enough. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  controller(
    name: string,
    queue: () => { readonly longestWork: number; readonly unfinishedWork: number },
  ): ControllerObserver {
    const labels = { name, controller: name };
    this.#sampled('workqueue_longest_running_processor_seconds', labels, () => queue().longestWork / 1000);
    this.#sampled('workqueue_unfinished_work_seconds', labels, () => queue().unfinishedWork / 1000);
    const depth = this.#depth.labels(labels);
    const adds = this.#adds.labels(labels);
    const retries = this.#retries.labels(labels);
    const waited = this.#waited.labels(labels);
    const worked = this.#worked.labels(labels);
    const controller = { controller: name };
    this.#errors.inc(controller, 0);
    this.#terminal.inc(controller, 0);
    this.#overdue.set(controller, 0);
    return {
      queue: {
        depth: (value) => depth.set(value),
        added: () => adds.inc(),
        started: (seconds) => waited.observe(seconds),
        finished: (seconds) => worked.observe(seconds),
        retried: () => retries.inc(),
      },
      workers: (count) => this.#workers.set(controller, count),
      active: (count) => this.#active.set(controller, count),
      overdue: (count) => this.#overdue.set(controller, count),
      reconciled: (outcome, seconds) => {
        this.#reconciles.inc({ ...controller, result: outcome === 'terminal' ? 'error' : outcome });
        if (outcome === 'error' || outcome === 'terminal') this.#errors.inc(controller);
        if (outcome === 'terminal') this.#terminal.inc(controller);
        this.#reconcileTime.observe(controller, seconds);
      },
    };
  }

  readonly transport: NonNullable<TransportOptions['observe']> = ({ method, code, host, seconds }) => {
    this.#requests.inc({ method, code, host });
    this.#requestTime.observe({ verb: method, host }, seconds);
  };

  /** Read at each scrape. */
  leading(name: string, leading: () => boolean): void {
    this.#onScrape.push(() => this.#leading.set({ name }, leading() ? 1 : 0));
  }

  webhook(webhook: string, code: number, seconds: number): void {
    this.#webhooks.inc({ webhook, code: String(code) });
    this.#webhookTime.observe({ webhook }, seconds);
  }

  /** The text that Prometheus reads. */
  async expose(): Promise<string> {
    for (const sample of this.#onScrape) sample();
    return this.registry.metrics();
  }

  readonly #onScrape: (() => void)[] = [];
  readonly #gauges = new Map<string, Gauge>();

  #sampled(name: string, labels: Record<string, string>, read: () => number): void {
    const gauge = this.#gauges.get(name) ?? this.#gauge(name, name.replaceAll('_', ' '), Object.keys(labels));
    this.#gauges.set(name, gauge);
    this.#onScrape.push(() => gauge.set(labels, read()));
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: this.#registers });
  }

  #gauge(name: string, help: string, labelNames: string[]): Gauge {
    return new Gauge({ name, help, labelNames, registers: this.#registers });
  }

  #histogram(name: string, help: string, labelNames: string[], buckets: number[]): Histogram {
    return new Histogram({ name, help, labelNames, buckets, registers: this.#registers });
  }
}
