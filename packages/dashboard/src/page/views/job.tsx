/** One job: where it stands in its life, why it waits, what it asked for, and what may be done with it. */
import type { AccountingJob, SlurmJob } from '@slurm-operator/slurm';
import { useState } from 'preact/hooks';
import { type Address, pathOf } from '../address.ts';
import { clock, count, memory, span, timeLimit } from '../format.ts';
import { Link } from '../link.tsx';
import type { LiveCluster } from '../live-cluster.ts';
import type { rightsIn } from '../me.ts';
import { Scroll } from '../scroll.tsx';
import { useEvery, useRead } from '../use-read.ts';
import { Bar } from '../bar.tsx';
import { JobState } from '../job-state.tsx';
import { ConfirmDialog } from './confirm.tsx';
import { explainReason } from './reasons.ts';

interface RecordBody {
  readonly record: AccountingJob | null;
  readonly script: string;
}

interface JobBody {
  readonly job: SlurmJob;
  readonly why?: {
    readonly findings: readonly { readonly rule: string; readonly says: string; readonly because: readonly string[]; readonly fix: readonly string[] }[];
    readonly unchecked: readonly string[];
  };
  readonly place?: { readonly before: number; readonly pending: number };
}

type Action = 'cancel' | 'hold' | 'release' | 'requeue' | 'limit';
const titles: Readonly<Record<Action, string>> = {
  cancel: 'Cancel',
  hold: 'Hold',
  release: 'Release',
  requeue: 'Requeue',
  limit: 'Change the limit of',
};
const consequences: Readonly<Record<Action, string>> = {
  cancel: 'It ends at once and does not come back.',
  hold: 'It does not start until it is released.',
  release: 'It may start as soon as it is its turn.',
  requeue: 'It stops, and starts again from its beginning when it is its turn.',
  limit: 'It ends when it has run for this long. Slurm lets only administrators give a running job more time.',
};

export function Job({
  at,
  live,
  rights,
}: {
  at: Extract<Address, { cluster: string }>;
  live: LiveCluster;
  rights: ReturnType<typeof rightsIn>;
}) {
  const { value, problem } = useRead<JobBody>(`${live.base}/jobs/${encodeURIComponent(at.item)}`, live.jobsVersion.value);
  const record = useRead<RecordBody>(`${live.base}/jobs/${encodeURIComponent(recordId(value?.job, at.item))}/record`, useEvery(15_000));
  const [asking, setAsking] = useState<Action | undefined>(undefined);
  if (value === undefined && problem !== '' && record.value?.record) return <Ended at={at} record={record.value.record} script={record.value.script} rights={rights} />;
  if (value === undefined) return <p class={problem === '' ? 'quiet' : 'notice bad'}>{problem === '' ? 'Reading…' : problem}</p>;
  const { job, place, why } = value;
  const now = Date.now();
  const isPending = job.state.includes('PENDING');
  const isRunning = job.state.includes('RUNNING');
  const actions: readonly Action[] = [
    ...(rights.changeJobs !== true ? [] : isPending ? [job.held ? ('release' as const) : ('hold' as const)] : []),
    ...(rights.changeJobs === true && isRunning ? ['requeue' as const] : []),
    ...(rights.changeJobs === true && (isPending || isRunning) ? ['limit' as const] : []),
    ...(rights.cancelJobs === true && (isPending || isRunning) ? ['cancel' as const] : []),
  ];
  const fact = (name: string, text: string | undefined) =>
    text === undefined || text === '' ? null : (
      <>
        <dt>{name}</dt>
        <dd>{text}</dd>
      </>
    );
  return (
    <>
      <h2 class="page">
        Job {at.item} <span class="quiet">{job.name}</span> <JobState state={job.state.join('+')} />
      </h2>
      {problem !== '' && <p class="notice">{problem}</p>}
      <div class="columns">
      <section>
        <h2>Life</h2>
        <ol class="life">
          <li>
            Submitted {clock(job.submittedAt ?? 0, now)} <span class="quiet">by {job.user}</span>
          </li>
          {job.eligibleAt !== undefined && (job.submittedAt === undefined || job.eligibleAt > job.submittedAt) && <li>Eligible {clock(job.eligibleAt, now)}</li>}
          {isPending ? (
            <li class="now">
              <strong>Waiting</strong>
              {job.submittedAt === undefined ? '' : ` for ${span(now - job.submittedAt)}`}
              {place !== undefined && (
                <div>
                  {place.before === 0 ? 'First' : `${count(place.before, 'job')} before it`} of {place.pending} that wait in {job.partition}
                </div>
              )}
              {job.startedAt !== undefined && job.startedAt > now && <div>Slurm expects it to start at {clock(job.startedAt, now)}</div>}
            </li>
          ) : (
            <li class={isRunning ? 'now' : ''}>
              Started {clock(job.startedAt ?? 0, now)}
              {isRunning && job.startedAt !== undefined ? <span class="quiet"> runs for {span(now - job.startedAt)}</span> : ''}
            </li>
          )}
          {isRunning && typeof job.timeLimit === 'number' && job.startedAt !== undefined && (
            <li>
              Ends {clock(job.startedAt + job.timeLimit * 60_000, now)} at the latest
              <Bar part={now - job.startedAt} whole={job.timeLimit * 60_000} text={`${span(now - job.startedAt)} of ${timeLimit(job.timeLimit)}`} />
            </li>
          )}
          {!isPending && !isRunning && (
            <li class="now">
              {job.state.join(', ').toLowerCase()}
              {job.endedAt !== undefined ? ` ${clock(job.endedAt, now)}` : ''}
              {job.exitCode !== undefined && job.exitCode !== 0 ? `, exit code ${job.exitCode}` : ''}
            </li>
          )}
        </ol>
        {isPending && (
          <div class="finding">
            <h3>Why it waits</h3>
            <p>
              {job.held ? 'It is held until it is released.' : explainReason(job.stateReason)} <span class="quiet small">Slurm says: {job.stateReason}</span>
            </p>
            {why?.findings.map(({ rule, says, because, fix }) => (
              <div key={`${rule} ${says}`}>
                <p>{says}</p>
                {because.map((line) => (
                  <p class="quiet small" key={line}>
                    {line}
                  </p>
                ))}
                {fix.length > 0 && <pre>{fix.join('\n')}</pre>}
              </div>
            ))}
            {why?.unchecked.map((line) => (
              <p class="quiet small" key={line}>
                Not looked at: {line}
              </p>
            ))}
          </div>
        )}
        <div class="actions">
          {actions.map((action) => (
            <button key={action} type="button" onClick={() => setAsking(action)}>
              {action === 'limit' ? 'Change limit' : titles[action]}
            </button>
          ))}
          {rights.submit === true && <Link to={pathOf(at, 'submit', '', new URLSearchParams({ from: at.item }))}>Submit again</Link>}
        </div>
      </section>
      <section>
        <h2>Resources</h2>
        <dl>
          {fact('User', job.user)}
          {fact('Account', job.account)}
          {fact('Partition', job.partition)}
          {fact('QOS', job.qos)}
          {fact('Priority', job.priority?.toString())}
          {fact('Nodes asked for', job.nodeCount?.toString())}
          {fact('CPUs', job.cpus?.toString())}
          {fact('Memory per node', job.memoryPerNode === undefined ? '' : memory(job.memoryPerNode))}
          {fact('Other resources', job.tresPer || job.tresRequested)}
          {fact('Features', job.constraints)}
          {fact('Licenses', job.licenses)}
          {fact('Depends on', job.dependency)}
          {fact('Reservation', job.reservation)}
          {fact('Time limit', job.timeLimit === 'infinite' ? 'no limit' : timeLimit(job.timeLimit ?? 0))}
          {fact('Directory', job.workingDirectory)}
          {fact('Output', job.standardOutput)}
          {fact('Comment', job.comment)}
          {fact('Comment of administrators', job.adminComment)}
          {job.nodes !== '' && (
            <>
              <dt>Runs on</dt>
              <dd>
                {/^[\w.-]+$/.test(job.nodes) ? <Link to={pathOf(at, 'nodes', job.nodes)}>{job.nodes}</Link> : job.nodes}
              </dd>
            </>
          )}
        </dl>
      </section>
      </div>
      {record.value?.record && <Steps record={record.value.record} script={record.value.script} />}
      {asking !== undefined && (
        <ConfirmDialog
          title={`${titles[asking]} job ${at.item}`}
          {...(asking === 'limit' ? { ask: { field: 'timeLimit', label: 'New limit, such as 01:30:00' } } : {})}
          text={consequences[asking]}
          items={[`${at.item} ${job.name} of ${job.user}`]}
          path={`${live.base}/jobs/${asking}`}
          body={{ ids: [at.item] }}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  );
}

/** Accounting knows a task of an array by its own number. */
function recordId(job: SlurmJob | undefined, item: string): string {
  return job === undefined ? (item.split('_')[0] ?? item) : String(job.id);
}

interface RecordProps {
  readonly record: AccountingJob;
  readonly script: string;
}

/** slurmctld has forgotten it; accounting has not. */
function Ended({
  at,
  record,
  script,
  rights,
}: RecordProps & { at: Extract<Address, { cluster: string }>; rights: ReturnType<typeof rightsIn> }) {
  const now = Date.now();
  const facts: readonly (readonly [string, string])[] = [
    ['User', record.user],
    ['Account', record.account],
    ['Partition', record.partition],
    ['Nodes', record.nodes],
    ['Submitted', clock(record.submittedAt ?? 0, now)],
    ['Started', clock(record.startedAt ?? 0, now)],
    ['Ended', clock(record.endedAt ?? 0, now)],
    ['Ran for', record.elapsedSeconds === undefined ? '' : span(record.elapsedSeconds * 1000)],
    ['Time limit', record.timeLimit === 'infinite' ? 'no limit' : timeLimit(record.timeLimit ?? 0)],
    ['Exit code', record.exitCode?.toString() ?? ''],
  ];
  return (
    <>
      <h2 class="page">
        Job {at.item} <span class="quiet">{record.name}</span> <JobState state={record.state.join('+')} />
      </h2>
      <section>
        <h2>From accounting</h2>
        <dl>
          {facts
            .filter(([, text]) => text !== '')
            .map(([name, text]) => (
              <>
                <dt>{name}</dt>
                <dd>{text}</dd>
              </>
            ))}
        </dl>
        {rights.submit === true && <Link to={pathOf(at, 'submit', '', new URLSearchParams({ from: at.item }))}>Submit again</Link>}
      </section>
      <Steps record={record} script={script} />
    </>
  );
}

function Steps({ record, script }: RecordProps) {
  const now = Date.now();
  return (
    <>
      {record.steps.length > 0 && (
        <section>
          <h2>Steps</h2>
          <Scroll label="Steps">
            <table>
              <thead>
                <tr>
                  <th>Step</th>
                  <th>Name</th>
                  <th>State</th>
                  <th>Nodes</th>
                  <th class="number">Tasks</th>
                  <th>Started</th>
                  <th class="number">Ran for</th>
                  <th class="number">CPU time</th>
                  <th class="number">Exit code</th>
                </tr>
              </thead>
              <tbody>
                {record.steps.map((step) => (
                  <tr key={step.id}>
                    <td class="row-name">{step.id}</td>
                    <td>{step.name}</td>
                    <td>
                      <JobState state={step.state.join('+')} />
                    </td>
                    <td>{step.nodes}</td>
                    <td class="number">{step.tasks}</td>
                    <td>{clock(step.startedAt ?? 0, now)}</td>
                    <td class="number">{step.startedAt === undefined ? '' : span((step.endedAt ?? now) - step.startedAt)}</td>
                    <td class="number">{step.cpuSeconds === undefined ? '' : span(step.cpuSeconds * 1000)}</td>
                    <td class="number">{step.endedAt === undefined ? '' : step.exitCode}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </section>
      )}
      {script !== '' && (
        <section>
          <h2>Script</h2>
          <pre>{script}</pre>
        </section>
      )}
    </>
  );
}
