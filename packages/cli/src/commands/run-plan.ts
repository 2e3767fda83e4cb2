/** plan: what a change of a NodeSet would do to its workers, and when it would be over. Changes nothing. */
import { apiVersion, type NodeSet } from '@slurm-operator/api';
import type { Live } from '@slurm-operator/kube';
import { forecast, type Observed, observeNodeSet } from '@slurm-operator/operator/dry-run';
import { CliError, exitCode } from '../errors.ts';
import {
  readObjects,
  readSlurm,
  runningJobs,
  typicalTimes,
  usedShares,
  viewOf,
  workersOf,
} from '../gather/dry-run.ts';
import type { CommandLine } from '../line.ts';
import { nodeSets } from '../session/resources.ts';
import type { Session } from '../session/session.ts';
import { readManifests } from './manifests.ts';
import { planText, type SetPlan, summary } from './plan-view.ts';
import { nodeSetOf } from './rollout.ts';
import { unfitJobs } from './unfit-jobs.ts';

interface Wanted {
  readonly before: Live<NodeSet>;
  readonly after: Live<NodeSet>;
}

/** The NodeSets as they are and as they would be. */
async function wantedSets(session: Session, line: CommandLine): Promise<readonly Wanted[]> {
  const file = line.text('filename');
  const [name] = line.args;
  if (file === undefined) return [changed(await nodeSetOf(session, name), line)];
  if (name !== undefined || ['replicas', 'image', 'restart'].some((flag) => line.has(flag)))
    throw new CliError('Give either --filename, or a NodeSet with --replicas, --image or --restart.');
  const manifests = (await readManifests(session, file)).filter(
    ({ apiVersion: version, kind }) => version === apiVersion && kind === 'NodeSet',
  );
  if (manifests.length === 0) throw new CliError(`There is no NodeSet in ${file}.`);
  const client = await session.client();
  const namespace = await session.namespace();
  return Promise.all(
    manifests.map(async ({ metadata, ...rest }) => {
      const object = { ...rest, metadata: { ...metadata, namespace: metadata.namespace ?? namespace } };
      const options = { signal: session.signal };
      const before = await client.find(nodeSets, object.metadata, options);
      if (before === undefined)
        throw new CliError(
          `NodeSet ${metadata.name} does not exist yet: all its workers would be created, and none is replaced.`,
          { exitCode: exitCode.findings },
        );
      // From the user's file: the API server checks it in this dry run.
      const after = await client.apply(nodeSets, object as never, { ...options, dryRun: true, force: true });
      return { before, after };
    }),
  );
}

function changed(before: Live<NodeSet>, line: CommandLine): Wanted {
  const replicas = line.text('replicas');
  if (replicas !== undefined && !/^\d{1,6}$/.test(replicas))
    throw new CliError(`--replicas must be a number, not "${replicas}".`);
  if (replicas !== undefined) assertReplicasCount(before);
  const image = line.text('image');
  const { spec } = before;
  const template = line.has('restart')
    ? {
        ...spec.template,
        metadata: {
          ...spec.template?.metadata,
          annotations: {
            ...spec.template?.metadata?.annotations,
            'kubectl.kubernetes.io/restartedAt': 'now',
          },
        },
      }
    : spec.template;
  const after = {
    ...before,
    spec: {
      ...spec,
      template,
      ...(replicas === undefined ? {} : { replicas: Number(replicas) }),
      ...(image === undefined ? {} : { slurmd: { ...spec.slurmd, image } }),
    },
  };
  return { before, after };
}

/** Elsewhere another field decides, and a plan with other replicas would say that nothing happens. */
function assertReplicasCount({ metadata: { name }, spec: { autoscale, scalingMode } }: Live<NodeSet>): void {
  if (autoscale !== undefined)
    throw new CliError(
      `NodeSet ${name} is autoscaled, so replicas has no effect: plan -f FILE with another autoscale.min or autoscale.max (now ${autoscale.min} and ${autoscale.max}).`,
    );
  if (scalingMode === 'DaemonSet')
    throw new CliError(
      `NodeSet ${name} has a worker on each node that it selects (scalingMode: DaemonSet), so replicas has no effect: label or taint nodes, or plan -f FILE with another template.`,
    );
}

export async function runPlan(session: Session, line: CommandLine): Promise<number> {
  const sets = await wantedSets(session, line);
  const plans = await planSets(session, sets);
  const busy = plans.filter(
    ({ forecast: { earliest, latest } }) => earliest.steps.length + latest.blocked.length > 0,
  );
  const names = busy.map(({ after }) => `nodeset/${after.metadata.name}`);
  if (!session.printObject('Plan', { items: plans.map(summary) }, names))
    session.io.out(plans.map((plan) => planText(plan, session)).join('\n'));
  return busy.length > 0 ? exitCode.findings : exitCode.good;
}

export async function planSets(session: Session, sets: readonly Wanted[]): Promise<readonly SetPlan[]> {
  session.progress('Reading objects, nodes and jobs …');
  const [{ objects, forbidden }, slurm, shares] = await Promise.all([
    readObjects(session),
    readSlurm(session),
    usedShares(session),
  ]);
  const now = session.io.now();
  return sets.map(({ before, after }) => {
    const workers = workersOf(objects, before);
    const seen = observeNodeSet({
      nodeSet: after as NodeSet,
      objects: {
        ...objects,
        nodesets: (objects['nodesets'] ?? []).map((each) =>
          each.metadata.uid === before.metadata.uid ? after : each,
        ),
      },
      slurm: viewOf(slurm, workers, now),
      release: slurm.kind === 'known' ? slurm.release : undefined,
      now,
    });
    const observed = withoutGuesses(seen, slurm.kind === 'known', !forbidden.includes('nodes'));
    const times = typicalTimes(workers);
    const expected = forecast({
      observed,
      jobs: runningJobs(slurm, workers),
      durations: times,
      usedShare: shares,
      now,
    });
    return {
      before,
      after,
      observed,
      forecast: expected,
      times,
      slurm,
      unfit: slurm.kind === 'known' ? unfitJobs(slurm, expected.removed, observed) : [],
      forbidden,
      now,
    };
  });
}

/** Unknown is not broken: what the operator wrote on pods says nothing of sizes, and a Node that may not be read may be well. */
function withoutGuesses(observed: Observed, knowsSlurm: boolean, knowsNodes: boolean): Observed {
  return {
    ...observed,
    ...(knowsSlurm ? {} : { features: undefined }),
    ...(knowsNodes
      ? {}
      : { workers: observed.workers.map((worker) => ({ ...worker, nodeReachable: true })) }),
  };
}
