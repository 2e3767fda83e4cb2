/** F: jobs that wait, with the numbers behind Slurm's reason. */
import { jobDeadline, type SlurmJob } from '@slurm-operator/slurm';
import { family } from '../finding.ts';
import { count, hosts, listed, moment, quote, shellWord, span } from '../text/text.ts';
import { demandOf, describeDemand, gpus, prospects } from './job-demand.ts';
import { hasReason, isPending, jobRule, update, waits } from './job-rule.ts';

const cancel = (job: SlurmJob) => `kubectl slurm cancel ${job.id}`;

/** Slurm's own estimate, where it has one that lies ahead. */
const estimate = (job: SlurmJob, context: { now: number; timeZone: string }): string[] =>
  job.startedAt !== undefined && job.startedAt > context.now
    ? [`Slurm expects to start it at ${moment(job.startedAt, context)}.`]
    : [];

export const jobRules = family('jobs', [
  jobRule({
    id: 'F1',
    title: 'Priority: other jobs come first',
    severity: 'info',
    needs: [],
    matches: waits(/^Priority$/),
    explain(job, { jobs }, context) {
      const ahead = jobs.filter(
        (other) =>
          isPending(other) &&
          other.id !== job.id &&
          other.partition === job.partition &&
          (other.priority ?? 0) > (job.priority ?? 0),
      );
      const next = Math.min(...ahead.map(({ priority }) => priority ?? 0));
      return {
        says: `Priority: ${count(ahead.length, 'pending job')} of partition ${job.partition} ${ahead.length === 1 ? 'has' : 'have'} a higher priority (this one ${job.priority ?? 'unknown'}${ahead.length > 0 ? `, the next ${next}` : ''}).`,
        because: estimate(job, context),
        fix: ['Wait. A shorter --time lets the scheduler backfill it sooner.'],
      };
    },
  }),
  jobRule({
    id: 'F2',
    title: 'Resources: nodes that fit are busy',
    severity: 'info',
    needs: ['slurmNodes', 'partitions'],
    matches: waits(/^Resources$/),
    explain(job, world, context) {
      const demand = demandOf(job);
      const { suitable, free, out, busy } = prospects(job, demand, world);
      if (suitable.length < demand.nodes) return undefined;
      const missing = demand.nodes - free.length;
      const next = busy.slice(0, Math.max(0, missing));
      const last = next.at(-1)?.until;
      const ending = next.filter(({ until }) => Number.isFinite(until));
      const holding = [...new Set(ending.flatMap(({ jobs }) => jobs))];
      const because: string[] = [];
      if (ending.length > 0)
        because.push(
          `${count(ending.length, 'more node')} ${ending.length === 1 ? 'is' : 'are'} free by ${moment(ending.at(-1)?.until ?? 0, context)} (${jobsWord(holding)} ${holding.length === 1 ? 'reaches its limit' : 'reach their limits'}).`,
        );
      if (last === Infinity)
        because.push(
          `${hosts(next.filter(({ until }) => until === Infinity).map(({ node }) => node.name))} runs a job without a time limit.`,
        );
      if (out.length > 0)
        because.push(
          `${count(out.length, 'node')} that would fit ${out.length === 1 ? 'takes' : 'take'} no jobs: ${listed(out.map((node) => `${node.name}${node.reason === '' ? '' : ` ("${quote(node.reason, 60)}")`}`))}.`,
        );
      because.push(...estimate(job, context));
      const fix =
        demand.nodes > 1 && free.length > 0
          ? [`Wait, or ask for what is free now: ${update(job, `numnodes=${free.length}`)}`]
          : ['Wait, or ask for less.'];
      return {
        says: `Resources: it asks for ${describeDemand(demand)}; ${free.length === 0 ? 'no node has' : `${count(free.length, 'node')} ${free.length === 1 ? 'has' : 'have'}`} that now.`,
        because,
        fix,
        related: out.map(({ name }) => name),
      };
    },
  }),
  jobRule({
    id: 'F3',
    title: 'No node is large enough: the job can never start',
    severity: 'error',
    needs: ['slurmNodes', 'partitions'],
    matches: waits(
      /^Resources$|BadConstraints|PartitionConfig|PartitionNodeLimit|ReqNodeNotAvail|node configuration/i,
    ),
    groupBy: (job) => `${job.partition} ${describeDemand(demandOf(job))}`,
    explain(job, world) {
      const demand = demandOf(job);
      const { suitable } = prospects(job, demand, world);
      if (suitable.length >= demand.nodes || hasReason(job, /UnavailableNodes/)) return undefined;
      const inside = world.slurmNodes.filter((node) =>
        node.partitions.some((one) => job.partition.split(',').includes(one)),
      );
      if (inside.length === 0) return undefined;
      const most = (of: (node: (typeof inside)[number]) => number) => Math.max(0, ...inside.map(of));
      const limits = [
        demand.gpusPerNode > most((node) => gpus(node.gres)) &&
          `no node has more than ${count(
            most((node) => gpus(node.gres)),
            'GPU',
          )}`,
        demand.cpusPerNode > most((node) => node.cpus) &&
          `no node has more than ${count(
            most((node) => node.cpus),
            'CPU',
          )}`,
        demand.memoryPerNode > most((node) => node.memory) &&
          `no node has more than ${most((node) => node.memory).toLocaleString('en-US')} MB of memory`,
      ].filter((part) => part !== false);
      return {
        says: `It asks for ${describeDemand(demand)}, and partition ${job.partition} has ${suitable.length === 0 ? 'none' : `only ${suitable.length}`} of that kind: it cannot start.`,
        because: limits,
        fix: [`Ask for less, or add workers. To cancel: ${cancel(job)}`],
      };
    },
  }),
  jobRule({
    id: 'F4',
    title: 'The partition has too few nodes',
    severity: 'error',
    needs: ['partitions', 'nodeSets'],
    matches: waits(
      /PartitionConfig|PartitionNodeLimit|Requested partition configuration|^Resources$|ReqNodeNotAvail|None/i,
    ),
    groupBy: (job) => job.partition,
    explain(job, { partitions, nodeSets }, { namespace }) {
      const partition = partitions.find(({ name }) => name === job.partition);
      if (partition === undefined || partition.nodeCount > 0) return undefined;
      const set = nodeSets.find(
        ({ metadata }) => metadata.name === job.partition || metadata.name.endsWith(`-${job.partition}`),
      );
      return {
        says: `Partition ${job.partition} has no nodes${set === undefined ? '' : ` (NodeSet ${set.metadata.name} has ${set.spec.replicas ?? 1} replicas)`}, so the job cannot start.`,
        fix: [
          set === undefined
            ? 'Add a NodeSet to the partition.'
            : `kubectl -n ${namespace} scale nodeset ${set.metadata.name} --replicas=${Math.max(1, job.nodeCount ?? 1)}`,
        ],
      };
    },
  }),
  jobRule({
    id: 'F5',
    title: 'Required nodes are not available',
    severity: 'warning',
    needs: ['slurmNodes', 'reservations'],
    matches: waits(/ReqNodeNotAvail/i),
    groupBy: (job) => job.stateDescription,
    explain(job, { slurmNodes, reservations }, context) {
      const text = /UnavailableNodes:(\S+)/.exec(job.stateDescription)?.[1] ?? job.requiredNodes;
      const limit = typeof job.timeLimit === 'number' ? job.timeLimit * 60_000 : undefined;
      const coming = reservations.filter(
        ({ startsAt }) =>
          startsAt !== undefined &&
          startsAt > context.now &&
          (limit === undefined || context.now + limit > startsAt),
      );
      const out = slurmNodes.filter(
        ({ name, reason }) => reason !== '' && (text === '' || text.includes(name) || hosts([name]) === text),
      );
      return {
        says: `Nodes that it needs are not available${text === '' ? '' : `: ${text}`}.`,
        because: [
          ...out.slice(0, 4).map((node) => `${node.name}: "${quote(node.reason, 80)}"`),
          ...coming.map(
            ({ name, startsAt = 0 }) =>
              `reservation ${name} begins at ${moment(startsAt, context)}, and the time limit of the job reaches into it`,
          ),
        ],
        fix:
          coming.length > 0
            ? [update(job, 'timelimit=…') + ' with a limit that ends before the reservation']
            : ['Wait for these nodes, or ask for others.'],
        related: out.map(({ name }) => name),
      };
    },
  }),
  jobRule({
    id: 'F6',
    title: 'The reservation has not begun or is gone',
    severity: 'warning',
    needs: ['reservations'],
    matches: waits(/^Reservation/i),
    groupBy: (job) => job.reservation,
    explain(job, { reservations }, context) {
      const found = reservations.find(({ name }) => name === job.reservation);
      const begins = found?.startsAt;
      return found === undefined
        ? {
            says: `Its reservation ${job.reservation} does not exist.`,
            fix: [update(job, 'reservationname=')],
          }
        : {
            says: `Its reservation ${job.reservation} ${begins !== undefined && begins > context.now ? `begins at ${moment(begins, context)}` : 'has no free nodes'}.`,
            fix: [`kubectl slurm scontrol -- show reservation ${shellWord(job.reservation)}`],
          };
    },
  }),
  jobRule({
    id: 'F11',
    title: 'The job waits for other jobs',
    severity: 'info',
    needs: [],
    matches: waits(/^Dependency$/),
    explain(job, { jobs }, context) {
      const ids = [...job.dependency.matchAll(/:(\d+)/g)].map((match) => Number(match[1]));
      const others = ids.map((id) => {
        const other = jobs.find((each) => each.id === id || each.arrayJobId === id);
        if (other === undefined) return `${id} (ended or forgotten)`;
        const end = jobDeadline(other);
        return `${id} (${other.state.join('+')}${typeof end === 'number' ? `, ends by ${moment(end, context)}` : ''})`;
      });
      return {
        says: `It waits for ${others.length === 0 ? job.dependency || 'another job' : listed(others)}.`,
        fix: [`kubectl slurm job ${ids[0] ?? job.id}`],
      };
    },
  }),
  jobRule({
    id: 'F12',
    title: 'A dependency can never be satisfied',
    severity: 'error',
    needs: [],
    matches: waits(/DependencyNeverSatisfied/),
    explain: (job) => ({
      says: `Its dependency can never be satisfied: ${job.dependency === '' ? 'the other job failed' : job.dependency}.`,
      fix: [cancel(job), update(job, 'dependency=')],
    }),
  }),
  jobRule({
    id: 'F13',
    title: 'The job is held',
    severity: 'warning',
    needs: [],
    matches: (job) =>
      isPending(job) && hasReason(job, /JobHeld(User|Admin)/) && !hasReason(job, /launch failed|cred/i),
    groupBy: (job) => job.stateReason,
    explain: (job) => ({
      says: /Admin/.test(job.stateReason)
        ? `An administrator holds it${job.adminComment === '' ? '' : `: "${quote(job.adminComment)}"`}.`
        : `Its owner ${job.user} holds it.`,
      fix: [`kubectl slurm release ${job.id}`],
    }),
  }),
  jobRule({
    id: 'F14',
    title: 'Slurm holds the job because it does not know its user',
    severity: 'error',
    needs: [],
    matches: (job) =>
      isPending(job) && hasReason(job, /slurm_cred_create|cred.*fail|InvalidAccount|user.*unknown/i),
    groupBy: (job) => job.user,
    explain: (job) => ({
      says: /InvalidAccount/.test(job.stateReason)
        ? `Slurm refuses its account "${job.account}" for user ${job.user}.`
        : `slurmctld does not know user ${job.user || 'of the job'}, and holds the job.`,
      because: [job.stateDescription].filter((text) => text !== ''),
      fix: [`Make the user known to slurmctld and the workers (sssd), then: kubectl slurm release ${job.id}`],
    }),
  }),
  jobRule({
    id: 'F15',
    title: 'The launch failed and Slurm holds the job',
    severity: 'error',
    needs: [],
    matches: waits(/launch failed|requeued held|JobLaunchFailure|JobHoldMaxRequeue/i),
    explain: (job) => ({
      says: `It started${job.restarts > 0 ? ` ${count(job.restarts, 'time')}` : ''} and could not be launched: its user is unknown on the node, its directory does not exist there, or the prolog failed.`,
      because: [job.stateDescription].filter((text) => text !== ''),
      fix: [`kubectl slurm logs --job ${job.id}`, `kubectl slurm release ${job.id}`],
    }),
  }),
  jobRule({
    id: 'F16',
    title: 'The job may not begin yet',
    severity: 'info',
    needs: [],
    matches: waits(/^BeginTime$/),
    explain: (job, _, context) => ({
      says: `It may not start before ${job.eligibleAt === undefined ? 'its begin time' : moment(job.eligibleAt, context)}${job.restarts > 0 ? ` (it was requeued ${count(job.restarts, 'time')}; Slurm waits before it starts again)` : ''}.`,
      fix: [update(job, 'starttime=now')],
    }),
  }),
  jobRule({
    id: 'F17',
    title: 'No node has the requested features',
    severity: 'error',
    needs: ['slurmNodes'],
    matches: (job) =>
      isPending(job) &&
      hasReason(job, /BadConstraints|^Resources$|node configuration/i) &&
      job.constraints !== '',
    groupBy: (job) => job.constraints,
    explain(job, { slurmNodes }) {
      const all = new Set(
        slurmNodes.flatMap(({ features, activeFeatures }) => [...features, ...activeFeatures]),
      );
      const wanted = job.constraints.split(/[^\w.-]+/).filter((word) => word !== '' && !/^\d+$/.test(word));
      const absent = wanted.filter((word) => !all.has(word));
      if (absent.length === 0) return undefined;
      return {
        says: `It asks for the feature ${absent.join(', ')}, which no node has${all.size === 0 ? '' : ` (there ${all.size === 1 ? 'is' : 'are'} ${listed([...all].toSorted(), 6)})`}.`,
        fix: [update(job, 'features='), cancel(job)],
      };
    },
  }),
  jobRule({
    id: 'F19',
    title: 'A node of the job failed',
    severity: 'warning',
    needs: [],
    matches: waits(/NodeDown|NodeFail|BootFail/i),
    explain: (job) => ({
      says: `A node of the job failed; it was requeued${job.restarts > 1 ? ` ${job.restarts} times` : ''} and waits again.`,
      fix: ['kubectl slurm nodes --state down'],
    }),
  }),
  jobRule({
    id: 'F20',
    title: 'The scheduler has not considered the job',
    severity: 'warning',
    needs: ['diag'],
    matches: (job) => isPending(job) && /^(None)?$/.test(job.stateReason) && !job.held,
    explain(job, { diag }, { now }) {
      const since = job.consideredAt ?? job.submittedAt;
      if (since === undefined || now - since < 300_000) return undefined;
      return {
        says: `The scheduler has not considered it for ${span(now - since)}: ${count(diag.scheduleQueueLength, 'job')} in its queue, ${diag.backfillLastDepth} tested in the last backfill cycle.`,
        fix: ['Raise bf_max_job_test or default_queue_depth in SchedulerParameters.'],
      };
    },
  }),
]);

const jobsWord = (ids: readonly number[]): string =>
  `${ids.length === 1 ? 'job' : 'jobs'} ${listed(ids.map(String))}`;
