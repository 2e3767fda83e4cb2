/** A real Slurm on the stage of the NodeSet controller: slurmctld and slurmrestd, and one real slurmd for every pod that runs. Needs root. */
import { waitUntil } from '@slurm-operator/sandbox';
import {
  isNotResponding,
  type JobUpdate,
  type NodeUpdate,
  type ReservationWrite,
  type SlurmClient,
  SlurmError,
  type SlurmNode,
  type SlurmReservation,
} from '@slurm-operator/slurm';
import { type MiniSlurm, type SlurmRelease, startMiniSlurm } from '@slurm-operator/slurm/testing';
import { PendingJobs } from '../src/slurm-connection/pending-jobs.ts';
import type { NodesView, PendingNeeds } from '../src/slurm-connection/slurm-gateway.ts';
import { strictlyLater } from './patient-clock.ts';
import type { StagedSlurm, StartedWorker } from './staged-slurm.ts';

/** For whatever a daemon does; costs nothing when it is quick. */
const patience = 120_000;

export class RealSlurm implements StagedSlurm, AsyncDisposable {
  readonly version: SlurmRelease;
  readonly #mini: MiniSlurm;
  readonly #client: SlurmClient;
  #onChange: () => void = () => {};
  #seen: NodesView = notAsked;

  private constructor(mini: MiniSlurm) {
    this.#mini = mini;
    this.version = mini.version;
    this.#client = mini.client();
  }

  static async start(version: SlurmRelease): Promise<RealSlurm> {
    const name = `crash-${process.pid}-${version.replace('.', '-')}`;
    // A slurmd that has ended must not be noticed in the middle of a run, one time yes and one time no.
    const configuration = ['SlurmdTimeout=3600'];
    return new RealSlurm(await startMiniSlurm({ version, nodes: 0, name, configuration }));
  }

  /** The stage that is played on now: told when a look brings news. */
  onChange(changed: () => void): void {
    this.#onChange = changed;
  }

  async workerStarts({ name, instanceId, conf }: StartedWorker): Promise<number> {
    const before = (await this.#find(name))?.slurmdStartedAt ?? 0;
    // Slurm and Kubernetes tell in whole seconds when something began, and a second apart may be the same: two are not.
    await waitUntil('a second of its own', () => Date.now() >= before + 2000, { timeoutMs: patience });
    const at = Date.now();
    await this.#mini.addNode(name, conf, ['--instance-id', instanceId]);
    await waitUntil(
      `slurmd ${name} to register`,
      async () => {
        const node = await this.#find(name);
        return node !== undefined && (node.slurmdStartedAt ?? 0) > before && isThere(node);
      },
      { timeoutMs: patience, intervalMs: 50 },
    );
    return at;
  }

  async workerEnds(name: string): Promise<void> {
    await this.#mini.removeNode(name);
  }

  /** Ends every slurmd and forgets every node: as new. */
  async clear(): Promise<void> {
    for (const name of this.#mini.nodes.keys()) await this.#mini.removeNode(name);
    for (const { name } of await this.truth()) await this.#client.nodes.delete(name);
    await waitUntil('Slurm to have no nodes', async () => (await this.truth()).length === 0, {
      timeoutMs: patience,
    });
    this.forgetView();
  }

  async pollByHand(): Promise<boolean> {
    const before = contentOf(this.#seen);
    this.#seen = await this.freshView();
    const news = contentOf(this.#seen) !== before;
    if (news) this.#onChange();
    return news;
  }

  forgetView(): void {
    this.#seen = notAsked;
  }

  view(): NodesView {
    return this.#seen;
  }

  /** An undrained node counts as not responding until the next ping, a second at most: whether that is seen must not be chance. */
  pendingNeeds(signal: AbortSignal): Promise<PendingNeeds> {
    return new PendingJobs(this.#client, () => Date.now()).needs(signal);
  }

  async freshView(): Promise<NodesView> {
    let view: NodesView = notAsked;
    await waitUntil(
      'every slurmd to respond',
      async () => {
        view = await this.#list();
        if (view.kind === 'unknown') return true;
        return view.nodes.every(({ name, state }) => !this.#mini.nodes.has(name) || !isNotResponding(state));
      },
      { timeoutMs: patience, intervalMs: 20 },
    );
    return view;
  }

  freshNodes(): Promise<NodesView> {
    return this.freshView();
  }

  async truth(): Promise<readonly SlurmNode[]> {
    return (await this.#client.nodes.list({ timeoutMs: patience })).items;
  }

  expectChanges(): void {}

  close(): void {
    this.onChange(() => {});
  }

  release(): string | undefined {
    return this.#client.about.release;
  }

  async updateNode(name: string | readonly string[], update: NodeUpdate, signal: AbortSignal): Promise<void> {
    await this.#client.nodes.update(name, update, { signal });
  }

  async createNodes(configuration: string, signal: AbortSignal): Promise<void> {
    await this.#client.nodes.create(configuration, { signal });
  }

  updateJob(id: string, update: JobUpdate, signal: AbortSignal): Promise<void> {
    return this.#client.jobs.update(id, update, { signal }).then(() => undefined);
  }

  async deleteNode(name: string, signal: AbortSignal): Promise<void> {
    await this.#client.nodes.delete(name, { signal });
  }

  reservation(name: string, signal: AbortSignal): Promise<SlurmReservation | undefined> {
    return this.#client.reservations.get(name, { signal });
  }

  async writeReservation(reservation: ReservationWrite, signal: AbortSignal): Promise<void> {
    await this.#client.reservations.write(reservation, { signal });
  }

  async deleteReservation(name: string, signal: AbortSignal): Promise<void> {
    await this.#client.reservations.delete(name, { signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mini.stop();
  }

  async #list(): Promise<NodesView> {
    // The operator under test has the same clock.
    const at = strictlyLater();
    try {
      const nodes = await this.truth();
      return {
        kind: 'known',
        at,
        nodes,
        deadlines: new Map(),
        jobsUnknown: undefined,
        jobsAfterNodes: true,
        controllerStartedAt: 0,
      };
    } catch (error) {
      if (!(error instanceof SlurmError)) throw error;
      return { kind: 'unknown', since: at, why: error.message };
    }
  }

  async #find(name: string): Promise<SlurmNode | undefined> {
    return (await this.truth()).find((node) => node.name === name);
  }
}

const notAsked: NodesView = { kind: 'unknown', since: 0, why: 'not asked yet' };

function isThere({ state }: SlurmNode): boolean {
  return state.base === 'IDLE' && !isNotResponding(state) && !state.flags.has('REBOOT_ISSUED');
}

/** Without what changes on its own while nothing happens. */
function contentOf(view: NodesView): string {
  if (view.kind === 'unknown') return view.why;
  return JSON.stringify(
    view.nodes.map(({ cpuLoad: _load, freeMemory: _free, lastBusyAt: _busy, state, ...rest }) => [
      rest,
      state.base,
      ...state.flags,
    ]),
  );
}
