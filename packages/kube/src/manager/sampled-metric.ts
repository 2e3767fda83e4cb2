/** A metric whose series are read at each scrape: what is gone is gone, and thousands of series cost one array. */
import type { Metric, Registry } from 'prom-client';

const none = {};

export interface Sample {
  /** Never changed. The same object at the next scrape is written faster. */
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface SampledMetricOptions {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly labelNames: readonly string[];
  /** Called at each scrape; never throws. */
  readonly sample: () => Sample[];
}

/** prom-client's own metrics hash the labels of each series: too slow for a series per node or per GPU. */
export class SampledMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly labelNames: readonly string[];
  readonly #sample: () => Sample[];

  private constructor({ name, help, type, labelNames, sample }: SampledMetricOptions) {
    this.name = name;
    this.help = help;
    this.type = type;
    this.labelNames = labelNames;
    this.#sample = sample;
  }

  static register(registry: Registry, options: SampledMetricOptions): void {
    // A registry uses the name, the type, `get` and `reset` of a metric; its classes have private fields that no other can have.
    registry.registerMetric(new SampledMetric(options) as unknown as Metric);
  }

  /** What prom-client asks a metric for. It keeps the text of shared labels, by object: labels that stay cost nothing. */
  get() {
    const { name, help, type } = this;
    const values = this.#sample().map(({ labels, value }) => ({ labels: none, sharedLabels: labels, value }));
    return Promise.resolve({ name, help, type, values, aggregator: 'sum' });
  }

  /** Nothing is kept between two scrapes. */
  reset(): void {}
}
