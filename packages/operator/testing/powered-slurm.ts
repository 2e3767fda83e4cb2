/**
 * A real Slurm with power saving, for autoscaled NodeSets on the stage: the connection is that of the operator, and every pod that runs
 * has a real slurmd. Needs root.
 */
import { type SlurmClient, SlurmWatch } from '@slurm-operator/slurm';
import { type MiniSlurm, type SlurmRelease, startMiniSlurm } from '@slurm-operator/slurm/testing';
import { waitForNodes, waitForNodesFile } from '../src/slurm-config/render/wait-for-nodes.ts';
import { WatchedGateway } from '../src/slurm-connection/watched-gateway.ts';
import { strictlyLater } from './patient-clock.ts';
import type { StagedSlurm, StartedWorker } from './staged-slurm.ts';

/** As the operator writes them; see `powerSaving` in slurm-config. */
const powerSaving = [
  'SlurmctldParameters=enable_configless,power_save_interval=1',
  'ResumeProgram=/bin/true',
  'SuspendProgram=/bin/true',
  'ResumeTimeout=120',
  'SuspendTimeout=600',
  'SuspendTime=315360000',
  'ResumeRate=0',
  'SuspendRate=0',
  `PrologSlurmctld=/etc/slurm/${waitForNodesFile}`,
];

const keyOf = (line: string): string => line.split('=', 1)[0] ?? '';

export class PoweredSlurm extends WatchedGateway implements StagedSlurm, AsyncDisposable {
  readonly mini: MiniSlurm;
  /** Called before the slurmd of a deleted pod ends. */
  beforeEnd: ((name: string) => Promise<void>) | undefined;
  readonly #watch: SlurmWatch;
  readonly #ends = new Map<string, Promise<void>>();
  #onChange: () => void = () => {};

  private constructor(mini: MiniSlurm, client: SlurmClient, watch: SlurmWatch) {
    const startedAt = Date.now() - 3_600_000;
    super({ client, watch, controllerStartedAt: () => startedAt, now: strictlyLater });
    this.mini = mini;
    this.#watch = watch;
    watch.nodes.subscribe(() => this.#onChange());
    watch.jobs.subscribe(() => this.#onChange());
    watch.start();
  }

  static async start(
    version: SlurmRelease,
    configuration: readonly string[] = [],
    options: { readonly steppedClock?: boolean; readonly accounting?: boolean } = {},
  ): Promise<PoweredSlurm> {
    const replaced = new Set(configuration.map(keyOf));
    const name = `power-${process.pid}-${version.replace('.', '-')}`;
    const mini = await startMiniSlurm({
      version,
      nodes: 0,
      name,
      configuration: [...powerSaving.filter((line) => !replaced.has(keyOf(line))), ...configuration],
      scripts: { [`/etc/slurm/${waitForNodesFile}`]: waitForNodes(['']) },
      ...options,
    });
    const client = mini.client();
    return new PoweredSlurm(mini, client, new SlurmWatch({ client }));
  }

  onChange(changed: () => void): this {
    this.#onChange = changed;
    return this;
  }

  async workerStarts({ name, instanceId, conf }: StartedWorker): Promise<number> {
    await this.#ends.get(name);
    const at = Date.now();
    await this.mini.addNode(name, conf, ['--instance-id', instanceId]);
    return at;
  }

  workerEnds(name: string): Promise<void> {
    const end = (async () => {
      await this.beforeEnd?.(name);
      await this.mini.removeNode(name);
    })();
    this.#ends.set(name, end);
    return end;
  }

  /** As the side container of slurmctld does it before 25.11: a line of `status.autoscale.recordsToCreate`. */
  async createRecords(line: string): Promise<void> {
    await this.mini.run('scontrol', 'create', ...line.split(' '));
  }

  async pollByHand(): Promise<boolean> {
    await this.freshView(AbortSignal.timeout(120_000));
    return true;
  }

  forgetView(): void {}

  async truth() {
    return (await this.mini.client().nodes.list()).items;
  }

  close(): void {
    this.onChange(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch.stop();
    await this.mini.stop();
  }
}
