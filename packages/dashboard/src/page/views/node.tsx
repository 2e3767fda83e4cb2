import type { FoldedJob } from '../../live/job-row.ts';
import type { NodeRow } from '../../live/node-row.ts';
import { type Address, pathOf } from '../address.ts';
import { clock, count, memory } from '../format.ts';
import { Link } from '../link.tsx';
import type { LiveCluster } from '../live-cluster.ts';
import { useEvery, useRead } from '../use-read.ts';
import { Scroll } from '../scroll.tsx';
import { JobState } from '../job-state.tsx';
import { UseMark } from '../use-mark.tsx';

interface NodeBody {
  readonly row: NodeRow;
  readonly jobs: number;
  readonly events: readonly { readonly at: number; readonly reason: string; readonly note: string; readonly warning: boolean }[];
  readonly worker?: {
    readonly pod: string;
    readonly machine: string;
    readonly phase: string;
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];
  };
}

export function Node({ at, live }: { at: Extract<Address, { cluster: string }>; live: LiveCluster }) {
  const { value, problem } = useRead<NodeBody>(`${live.base}/nodes/${encodeURIComponent(at.item)}`, useEvery(5_000));
  const here = new URLSearchParams({ node: at.item, state: 'RUNNING,SUSPENDED,COMPLETING', fold: 'no', limit: '100' });
  const jobs = useRead<{ rows: readonly FoldedJob[]; onlyOwn: boolean }>(`${live.base}/jobs?${here.toString()}`, live.jobsVersion.value);
  const row = live.nodes.value.get(at.item) ?? value?.row;
  if (row === undefined) return <p class={problem === '' ? 'quiet' : 'notice bad'}>{problem === '' ? 'Reading…' : problem}</p>;
  return (
    <>
      <section>
        <h2>{row.key}</h2>
        <dl>
          <dt>State</dt>
          <dd>
            <UseMark use={row.use} /> {row.use} <span class="quiet">({row.state})</span>
          </dd>
          {row.reason !== '' && (
            <>
              <dt>Reason</dt>
              <dd>
                {row.reason} <span class="quiet">{[row.reasonBy, clock(row.reasonAt ?? 0, Date.now())].filter(Boolean).join(', ')}</span>
              </dd>
            </>
          )}
          <dt>CPUs</dt>
          <dd>
            {row.cpusUsed} of {row.cpus} in use
          </dd>
          <dt>Memory</dt>
          <dd>
            {memory(row.memoryUsed)} of {memory(row.memory)} in use
          </dd>
          {row.gpus > 0 && (
            <>
              <dt>GPUs</dt>
              <dd>
                {row.gpusUsed} of {row.gpus} in use
              </dd>
            </>
          )}
          <dt>Partitions</dt>
          <dd>{row.partitions.join(', ')}</dd>
          <dt>Features</dt>
          <dd>{row.features.join(', ')}</dd>
          <dt>Jobs</dt>
          <dd>
            <Link to={pathOf(at, 'jobs', '', new URLSearchParams({ node: row.key }))}>{count(value?.jobs ?? 0, 'job')} here</Link>
          </dd>
        </dl>
      </section>
      {jobs.value !== undefined && jobs.value.rows.length > 0 && (
        <section>
          <h2>{jobs.value.onlyOwn ? 'Your jobs here' : 'Jobs here'}</h2>
          <Scroll label="Jobs here">
            <table>
              <thead>
                <tr>
                  <th>Job</th>
                  <th>Name</th>
                  <th>User</th>
                  <th>State</th>
                  <th class="number">Nodes</th>
                  <th>Started</th>
                  <th>Ends at the latest</th>
                </tr>
              </thead>
              <tbody>
                {jobs.value.rows.map((job) => (
                  <tr key={job.key}>
                    <td class="row-name">
                      <Link to={pathOf(at, 'jobs', job.id)}>{job.id}</Link>
                    </td>
                    <td>{job.name}</td>
                    <td>{job.user}</td>
                    <td>
                      <JobState state={job.state} />
                    </td>
                    <td class="number">{job.nodeCount}</td>
                    <td>{clock(job.startedAt, Date.now())}</td>
                    <td>{job.timeLimit < 0 ? 'no limit' : job.timeLimit === 0 ? '' : clock(job.startedAt + job.timeLimit * 60_000, Date.now())}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </section>
      )}
      {value?.worker !== undefined && (
        <section>
          <h2>Its pod</h2>
          <dl>
            <dt>Pod</dt>
            <dd>{value.worker.pod}</dd>
            <dt>Kubernetes node</dt>
            <dd>{value.worker.machine}</dd>
            <dt>Phase</dt>
            <dd>{value.worker.phase}</dd>
            {value.worker.conditions.map(({ type, status, reason, message }) => (
              <>
                <dt>{type}</dt>
                <dd>
                  {status} <span class="quiet">{[reason, message].filter(Boolean).join(': ')}</span>
                </dd>
              </>
            ))}
          </dl>
                </section>
      )}
      {value !== undefined && value.events.length > 0 && (
        <section>
          <h2>Events</h2>
          <dl>
            {value.events.map(({ at: when, reason, note, warning }) => (
              <>
                <dt>{clock(when, Date.now())}</dt>
                <dd>
                  {warning ? <span class="pill warning">{reason}</span> : reason} {note}
                </dd>
              </>
            ))}
          </dl>
        </section>
      )}
    </>
  );
}
