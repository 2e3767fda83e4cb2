import { JobWatch } from './job-watch.ts';
import { workLeft } from './node-changes.ts';
import { NodeWatch, type WatchOptions } from './node-watch.ts';

/** Watches the nodes and jobs of one cluster, each with one lister. Call `stop`. */
export class SlurmWatch implements AsyncDisposable {
  readonly nodes: NodeWatch;
  readonly jobs: JobWatch;

  constructor(options: WatchOptions) {
    this.nodes = new NodeWatch(options);
    this.jobs = new JobWatch(options);
    this.nodes.subscribe(({ changes }) => this.jobs.invalidate(workLeft(changes)));
  }

  start(): void {
    this.nodes.start();
    this.jobs.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.nodes.stop(), this.jobs.stop()]);
  }

  /** Polls about every second until disposed. */
  pollFast(): Disposable {
    const held = [this.nodes.pollFast(), this.jobs.pollFast()];
    return { [Symbol.dispose]: () => held.forEach((one) => one[Symbol.dispose]()) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
