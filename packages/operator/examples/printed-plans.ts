/**
 * Two plans, printed and not carried out: a NodeSet that is scaled in, and an edit of slurm.conf.
 *
 *     node packages/operator/examples/printed-plans.ts
 */
import { describeActions } from '../src/framework/actions.ts';
import { emptyControllerMemory } from '../src/kinds/controller/plan/memory.ts';
import { type ControllerInput, planController } from '../src/kinds/controller/plan/plan.ts';
import { workersBudget, workersService } from '../src/kinds/nodeset/objects/shared-objects.ts';
import { describeNodeSetPlan } from '../src/kinds/nodeset/plan/describe-plan.ts';
import { emptyMemory } from '../src/kinds/nodeset/plan/memory.ts';
import { planNodeSet } from '../src/kinds/nodeset/plan/plan.ts';
import { digestOf } from '../src/objects/digest.ts';
import { aController, aNodeSet, operatorDefaults } from '../testing/objects.ts';
import { now, observed, slurmNode, worker } from '../testing/observed.ts';
import { observedController, slurmWork } from '../testing/observed-controller.ts';

/** Three workers, one of them wanted: the idle one is drained already, the other one has a job. */
export function scaleInPlan(): string[] {
  const drained = slurmNode(2, {
    flags: new Set(['DRAIN']),
    reason: 'slurm-operator: Pod (slurm/w-2) is pending termination for scale-in',
  });
  const busy = slurmNode(1, { base: 'ALLOCATED', deadline: now + 3_600_000 });
  const workers = [worker(0), worker(1), worker(2, { cordoned: true, cordonCause: 'scale-in' })];
  const controller = aController();
  const plan = planNodeSet(
    {
      nodeSet: aNodeSet({}, { name: 'w' }),
      controller,
      facts: observed(workers, [slurmNode(0), busy, drained], { replicas: 1 }),
      specProblems: [],
      shared: { service: workersService(controller), budget: workersBudget(controller) },
      revisions: { ours: [{ name: 'w-r1', uid: 'r', hash: 'r1', revision: 1 }], ofNewestName: undefined },
      reservation: undefined,
      memory: emptyMemory,
    },
    now,
  );
  return describeNodeSetPlan(plan);
}

function controllerInput(extraConf: string, text: string | undefined): ControllerInput {
  const slurm = slurmWork({ partitions: new Map([['all', true]]) });
  return {
    ...observedController({
      controller: { ...aController({ extraConf }), status: { configHash: 'before' } },
      filesInForce: digestOf([]),
    }),
    evidence: { inForce: text === undefined ? undefined : { text, owners: {} }, slurm },
    liveStatefulSet: undefined,
    hasConfig: true,
    observationProblems: [],
    memory: emptyControllerMemory,
  };
}

/** A longer time limit in extraConf: the new configuration is tried before slurmctld reads it. */
export function configurationPlan(): string[] {
  const partition = (limit: string) => `PartitionName=all Nodes=ALL MaxTime=${limit}`;
  const before = planController(controllerInput(partition('60'), undefined), operatorDefaults, now);
  const text = before.decision.config?.data?.['slurm.conf'];
  const plan = planController(controllerInput(partition('120'), text), operatorDefaults, now);
  return [
    ...describeActions(plan.actions),
    ...plan.problems.map(({ reason, message }) => `${reason}: ${message}`),
  ];
}

if (import.meta.main) {
  console.log(['A NodeSet of 3 workers is scaled in to 1:', ...scaleInPlan()].join('\n  '));
  console.log(['MaxTime of a partition is changed in extraConf:', ...configurationPlan()].join('\n  '));
}
