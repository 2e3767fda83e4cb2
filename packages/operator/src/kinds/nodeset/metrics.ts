/** The numbers of NodeSets for Prometheus. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { AutoscaleSummary } from './autoscale/power.ts';
import { type WakeStage, WakeTimes } from './autoscale/wake-times.ts';
import type { WorkerAction } from './model/actions.ts';
import type { ObservedNodeSet } from './plan/plan.ts';
import type { WorkerPlan } from './plan/plan-workers.ts';
import { countForeignDrains, countsOf } from './status/counts.ts';

const labelNames = ['namespace', 'nodeset'] as const;
const drainBuckets = [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600];

/** From a second, which is what the operator needs, to the longest starts of machines. */
const wakeBuckets = [0.25, 0.5, 1, 1.5, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800];

const autoscaleStates = ['awake', 'waking', 'sleeping', 'stopping', 'cooling'] as const;

interface Labels extends Record<string, string> {
  readonly namespace: string;
  readonly nodeset: string;
}

const keyOf = ({ namespace, nodeset }: Labels): string => `${namespace}/${nodeset}`;

export class NodeSetMetrics {
  readonly #desired: Gauge;
  readonly #ready: Gauge;
  readonly #draining: Gauge;
  readonly #progress: Gauge;
  readonly #withheld: Gauge;
  readonly #waiting: Gauge;
  readonly #drained: Gauge;
  readonly #foreignDrains: Gauge;
  readonly #autoscale: Gauge;
  readonly #wakeFailures: Gauge;
  readonly #protected: Gauge;
  readonly #wakeUps: Counter;
  readonly #wakeSeconds: Histogram;
  readonly #actions: Counter;
  readonly #drainSeconds: Histogram;
  /** Slurm node → when we drained it, until its worker is deleted or it is undrained. */
  readonly #drainedAt = new Map<string, number>();
  /** NodeSet → its wake-ups under way. */
  readonly #wakeTimes = new Map<string, WakeTimes>();

  constructor(registry: Registry) {
    const registers = [registry];
    const gauge = (name: string, help: string) =>
      new Gauge({ name: `slurm_operator_nodeset_${name}`, help, labelNames: [...labelNames], registers });
    this.#desired = gauge('desired', 'Desired number of workers');
    this.#ready = gauge('ready', 'Ready workers');
    this.#draining = gauge('draining', 'Workers that are being drained');
    this.#progress = gauge('rollout_progress', 'Share of workers at the newest revision');
    this.#withheld = gauge('decisions_withheld', 'Actions that wait because the state of Slurm is unknown');
    this.#waiting = gauge('decisions_waiting', 'Actions that wait for another reason: jobs, budgets, claims');
    this.#drained = gauge('slurm_drained', 'Slurm nodes that are drained or draining');
    this.#foreignDrains = gauge(
      'slurm_drained_by_others',
      'Drained Slurm nodes that the operator did not drain',
    );
    this.#autoscale = new Gauge({
      name: 'slurm_operator_nodeset_autoscale_nodes',
      help: 'Slurm nodes of an autoscaled NodeSet by state',
      labelNames: [...labelNames, 'state'],
      registers,
    });
    this.#wakeFailures = gauge('autoscale_failures', 'Wake-ups that failed in a row');
    this.#protected = gauge('autoscale_protected', '1 while sleeping nodes are offered every half hour only');
    this.#wakeUps = new Counter({
      name: 'slurm_operator_nodeset_autoscale_wakeups_total',
      help: 'Wake-ups of nodes of an autoscaled NodeSet by result: started, failed, withdrawn',
      labelNames: [...labelNames, 'result'],
      registers,
    });
    this.#wakeSeconds = new Histogram({
      name: 'slurm_operator_nodeset_autoscale_wakeup_seconds',
      help: 'Time that wake-ups which started a worker took, by stage',
      labelNames: [...labelNames, 'stage'],
      buckets: wakeBuckets,
      registers,
    });
    this.#actions = new Counter({
      name: 'slurm_operator_nodeset_actions_total',
      help: 'Actions executed',
      labelNames: [...labelNames, 'action'],
      registers,
    });
    this.#drainSeconds = new Histogram({
      name: 'slurm_operator_nodeset_drain_seconds',
      help: 'Time from the drain by the operator to the deletion of the worker',
      labelNames: [...labelNames],
      buckets: drainBuckets,
      registers,
    });
  }

  /** After each reconcile. */
  show({ facts }: Pick<ObservedNodeSet, 'facts'>, plan: WorkerPlan, now: number): void {
    const { namespace, name } = facts;
    const counts = countsOf(facts, plan.desired, now);
    const labels = { namespace, nodeset: name };
    this.#desired.set(labels, counts.desired);
    this.#ready.set(labels, counts.readyReplicas);
    this.#draining.set(labels, plan.toRemove.length);
    this.#progress.set(labels, counts.desired === 0 ? 1 : counts.updatedReplicas / counts.desired);
    this.#withheld.set(labels, plan.blind);
    this.#waiting.set(labels, plan.withheld.length - plan.blind);
    this.#drained.set(labels, counts.slurmDrain);
    this.#foreignDrains.set(labels, countForeignDrains(facts));
    if (facts.autoscale === undefined) this.#forgetAutoscale(labels);
    else if (plan.autoscale !== undefined) this.#showAutoscale(labels, plan.autoscale, now);
  }

  /** What is shown last stays while the state of Slurm is unknown. */
  #showAutoscale(labels: Labels, { slots, history, ...counts }: AutoscaleSummary, now: number): void {
    for (const state of autoscaleStates) this.#autoscale.set({ ...labels, state }, counts[state]);
    this.#wakeFailures.set(labels, history.failures);
    this.#protected.set(labels, history.protectedSince === undefined ? 0 : 1);
    const key = keyOf(labels);
    const times = this.#wakeTimes.get(key) ?? new WakeTimes();
    this.#wakeTimes.set(key, times);
    for (const { result, seconds } of times.follow(slots, now)) {
      this.#wakeUps.inc({ ...labels, result });
      for (const [stage, value] of Object.entries(seconds) as [WakeStage, number][])
        this.#wakeSeconds.observe({ ...labels, stage }, value);
    }
  }

  #forgetAutoscale(labels: Labels): void {
    if (!this.#wakeTimes.delete(keyOf(labels))) return;
    for (const state of autoscaleStates) this.#autoscale.remove({ ...labels, state });
    this.#wakeFailures.remove(labels);
    this.#protected.remove(labels);
  }

  count(set: { namespace: string; name: string }, action: WorkerAction, now: number): void {
    const labels = { namespace: set.namespace, nodeset: set.name };
    this.#actions.inc({ ...labels, action: action.kind });
    if (!('slurmName' in action)) return;
    const key = `${set.namespace}/${set.name}/${action.slurmName}`;
    const since = this.#drainedAt.get(key);
    if (action.kind === 'drain' && since === undefined) this.#drainedAt.set(key, now);
    if (action.kind === 'undrain' || action.kind === 'delete-worker' || action.kind === 'delete-record')
      this.#drainedAt.delete(key);
    if (action.kind === 'delete-worker' && since !== undefined)
      this.#drainSeconds.observe(labels, (now - since) / 1000);
  }

  forget(set: { namespace: string; name: string }): void {
    const labels = { namespace: set.namespace, nodeset: set.name };
    for (const gauge of [
      this.#desired,
      this.#ready,
      this.#draining,
      this.#progress,
      this.#withheld,
      this.#waiting,
      this.#drained,
      this.#foreignDrains,
    ])
      gauge.remove(labels);
    this.#forgetAutoscale(labels);
    for (const key of this.#drainedAt.keys())
      if (key.startsWith(`${set.namespace}/${set.name}/`)) this.#drainedAt.delete(key);
  }
}
