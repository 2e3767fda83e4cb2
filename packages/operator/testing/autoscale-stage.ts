/** Autoscaled NodeSets, with real daemons of Slurm: NodeSet `gpu` and those that a test adds. `AUTOSCALE_SLURM=24.11` chooses the release. */
import { until } from '@slurm-operator/kube/testing';
import { expandHostlist, formatNodeState } from '@slurm-operator/slurm';
import { NodeSetStage } from './nodeset-stage.ts';
import { PoweredSlurm } from './powered-slurm.ts';

export const autoscaleRelease = process.env['AUTOSCALE_SLURM'] === '24.11' ? '24.11' : '26.05';

export const isAsleep = (state: string): boolean =>
  state.startsWith('IDLE') && state.includes('POWERED_DOWN');

type Autoscale = { readonly max: number } & Readonly<Record<string, unknown>>;

export interface AutoscaleStageOptions {
  /** What every worker has. */
  readonly slurmd: object;
  /** What every job is submitted with. */
  readonly job?: object;
}

export class AutoscaleStage implements AsyncDisposable {
  readonly slurm: PoweredSlurm;
  readonly stage: NodeSetStage<PoweredSlurm>;
  /** NodeSets for whose pods there is no machine. */
  readonly noMachines: Set<string>;
  readonly #options: AutoscaleStageOptions;

  private constructor(
    parts: Pick<AutoscaleStage, 'slurm' | 'stage' | 'noMachines'>,
    options: AutoscaleStageOptions,
  ) {
    this.slurm = parts.slurm;
    this.stage = parts.stage;
    this.noMachines = parts.noMachines;
    this.#options = options;
  }

  /** Takes over the Slurm, and disposes it with the stage. */
  static async open(slurm: PoweredSlurm, options: AutoscaleStageOptions): Promise<AutoscaleStage> {
    const noMachines = new Set<string>();
    const stage = await NodeSetStage.open<PoweredSlurm>(2, {
      slurm: (changed) => slurm.onChange(changed),
      endsWorkers: true,
      schedules: (pod) => !noMachines.has(pod.metadata.name.replace(/-\d+$/, '')),
    });
    await stage.startOperator();
    return new AutoscaleStage({ slurm, stage, noMachines }, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]();
    await this.slurm[Symbol.asyncDispose]();
  }

  /** Resolves when all of its nodes sleep. */
  async addNodeSet(name: string, autoscale: Autoscale): Promise<void> {
    await this.stage.createNodeSet(name, {
      slurmd: this.#options.slurmd,
      oversubscribeNode: true,
      autoscale,
    });
    await this.wait(`the nodes of ${name} to sleep`, async () => {
      await this.createRecords(name);
      const states = await this.states(name);
      return states.length === autoscale.max && states.every(isAsleep);
    });
  }

  /** Before 25.11 the side container of slurmctld creates the nodes that the status lists, one by one, and lets it read its files again. */
  async createRecords(name: string): Promise<void> {
    if (autoscaleRelease !== '24.11') return;
    const line = (await this.stage.nodeSet(name))?.status?.autoscale?.recordsToCreate ?? '';
    const [, names = '', rest = ''] = /^NodeName=(\S+)(.*)$/.exec(line) ?? [];
    let created = 0;
    for (const each of expandHostlist(names)) {
      const done = this.slurm.createRecords(`NodeName=${each}${rest}`).then(() => 1);
      created += await done.catch(() => 0); // it exists
    }
    if (created > 0) await this.slurm.mini.run('scontrol', 'reconfigure');
  }

  async states(name = 'gpu'): Promise<string[]> {
    return (await this.slurm.truth())
      .filter((node) => node.name.startsWith(`${name}-`))
      .map(({ state }) => formatNodeState(state));
  }

  async pods(): Promise<string[]> {
    return (await this.stage.pods()).map(({ metadata }) => metadata.name);
  }

  submit(more: object = {}, script = 'sleep 1') {
    const job = { script: `#!/bin/sh\n${script}\n`, timeLimit: 10, ...this.#options.job, ...more };
    return this.slurm.mini.client().jobs.submit(job);
  }

  wait(what: string, holds: () => Promise<boolean>): Promise<unknown> {
    return until(what, holds, {
      everyMs: 100,
      seconds: 240,
      seen: async () => {
        const jobs = (await this.slurm.mini.client().jobs.list()).items;
        return JSON.stringify([
          (await this.slurm.truth()).map((node) => [node.name, formatNodeState(node.state), node.reason]),
          await this.pods(),
          jobs.map(({ id, state, stateReason, restarts }) => [id, state.join('+'), stateReason, restarts]),
          (await this.stage.nodeSet('gpu'))?.status?.autoscale,
        ]);
      },
    });
  }

  /** All of NodeSet gpu, and no pod is left. */
  asleep(): Promise<unknown> {
    return this.wait(
      'all to sleep',
      async () => (await this.states()).every(isAsleep) && (await this.pods()).length === 0,
    );
  }
}
