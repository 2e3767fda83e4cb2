import { expandHostlist } from '../meaning/hostlist.ts';
import { occupiesNodes, type SlurmJob } from '../model/job.ts';
import type { JobStates } from './job-changes.ts';
import { JobWatch } from './job-watch.ts';
import { workLeft } from './node-changes.ts';
import { NodeWatch, type WatchOptions } from './node-watch.ts';
import type { Waiting } from './pace.ts';

/**
 * Watches the nodes and jobs of one cluster, each with one lister. While a caller waits, the end of a job has its nodes read at once, and
 * so has a job that begins on sleeping nodes: the list of job states is cheap, that of nodes is not. Call `stop`.
 */
export class SlurmWatch implements AsyncDisposable {
  readonly nodes: NodeWatch;
  readonly jobs: JobWatch;
  #holds = 0;

  constructor(options: WatchOptions) {
    this.nodes = new NodeWatch(options);
    this.jobs = new JobWatch(options);
    this.nodes.subscribe(({ changes }) => this.jobs.invalidate(workLeft(changes)));
    this.jobs.subscribe(({ view, before }) => {
      if (this.#holds === 0 || view.kind === 'unknown' || before.kind === 'unknown') return;
      this.nodes.readAgain(nodesLeft(before.running, view.states));
      this.nodes.awaited(nodesAwaited(before.running, view.running));
      // Where a job ended before its details were read, only a list shows on which nodes.
      if ([...before.missing].some((id) => !occupiesNodes(view.states.get(id) ?? []))) this.nodes.listSoon();
    });
  }

  start(): void {
    this.nodes.start();
    this.jobs.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.nodes.stop(), this.jobs.stop()]);
  }

  /** Polls fast until disposed. `jobs`: only the end of jobs is waited for. */
  pollFast(waiting: Exclude<Waiting, false> = 'changes'): Disposable {
    const held = [this.nodes.pollFast(waiting), this.jobs.pollFast()];
    this.#holds += 1;
    return {
      [Symbol.dispose]: () => {
        for (const one of held) one[Symbol.dispose]();
        if (held.length > 0) this.#holds -= 1;
        held.length = 0;
      },
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

type Jobs = ReadonlyMap<string, SlurmJob>;

/** The nodes of jobs that have left theirs. */
function nodesLeft(running: Jobs, states: JobStates): string[] {
  return [...running].flatMap(([id, job]) => (occupiesNodes(states.get(id) ?? []) ? [] : nodesOf(job)));
}

/** The nodes of jobs that have begun to wait for theirs. */
function nodesAwaited(before: Jobs, running: Jobs): string[] {
  const isWaiting = (job: SlurmJob | undefined) => job?.state.includes('CONFIGURING') === true;
  return [...running].flatMap(([id, job]) =>
    isWaiting(job) && !isWaiting(before.get(id)) ? nodesOf(job) : [],
  );
}

function nodesOf({ nodes }: SlurmJob): string[] {
  try {
    return expandHostlist(nodes);
  } catch {
    return []; // the next list shows them
  }
}
