/** What one connection to Slurm has to show: its views as they are, and what must be followed between two scrapes. */
import type { SlurmJob, SlurmNode } from '@slurm-operator/slurm';
import type { Attached } from '../slurm-connection/pool.ts';
import type { SlurmConnection } from '../slurm-connection/slurm-connection.ts';
import { type GpuSamples, gpuSamples } from './gpu-figures.ts';
import type { ClusterLabels } from './node-figures.ts';
import { type PendingFigures, PendingSurvey } from './pending-survey.ts';
import { type JobStart, WaitTimes } from './wait-times.ts';

/** What the figures are made of. */
export type FiguresSource = Pick<
  SlurmConnection,
  'client' | 'gateway' | 'jobs' | 'jobCounts' | 'onJobs' | 'lastDiag'
>;

/** Statistics are asked for with every ping; older ones are those of a slurmctld that no longer responds. */
const diagValidMs = 10 * 60_000;

export interface ClusterFiguresOptions {
  readonly labels: ClusterLabels;
  readonly now: () => number;
  readonly onStart: (labels: ClusterLabels, start: JobStart) => void;
  readonly onClose: () => void;
}

export class ClusterFigures implements Attached {
  readonly labels: ClusterLabels;
  readonly #source: FiguresSource;
  readonly #options: ClusterFiguresOptions;
  readonly #survey: PendingSurvey;
  readonly #waits = new WaitTimes();
  #gpus: (GpuSamples & { readonly of: ReadonlyMap<string, SlurmJob> }) | undefined;

  constructor(source: FiguresSource, options: ClusterFiguresOptions) {
    this.labels = options.labels;
    this.#source = source;
    this.#options = options;
    this.#survey = new PendingSurvey(source.client, options.now);
    source.onJobs(() => this.#followJobs());
  }

  /** The nodes of the last list and when it began; undefined while the state of Slurm is unknown. */
  nodes(): { readonly at: number; readonly nodes: readonly SlurmNode[] } | undefined {
    const view = this.#source.gateway.view();
    return view.kind === 'known' ? view : undefined;
  }

  /** Made once for each list of jobs. */
  gpus(): GpuSamples {
    const { jobs } = this.#source;
    if (jobs.kind === 'unknown') return { samples: [], omitted: 0 };
    if (this.#gpus?.of !== jobs.running)
      this.#gpus = { of: jobs.running, ...gpuSamples(this.labels, jobs.running.values()) };
    return this.#gpus;
  }

  pending(): PendingFigures | undefined {
    // Details of a job may arrive with a list that changes nothing else.
    this.#followJobs();
    const counts = this.#source.jobCounts();
    return counts && this.#survey.figures(counts.pending);
  }

  diag() {
    const { lastDiag } = this.#source;
    return lastDiag !== undefined && this.#options.now() - lastDiag.at < diagValidMs
      ? lastDiag.diag
      : undefined;
  }

  async close(): Promise<void> {
    this.#options.onClose();
    await this.#survey.close();
  }

  #followJobs(): void {
    const { jobs } = this.#source;
    if (jobs.kind === 'unknown') return;
    for (const start of this.#waits.follow(jobs)) this.#options.onStart(this.labels, start);
  }
}
