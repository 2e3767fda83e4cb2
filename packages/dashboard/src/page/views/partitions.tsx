/** What limits jobs: partitions and how full they are, reservations on an axis, qualities of service. */
import type { SlurmPartition, SlurmQos, SlurmReservation } from '@slurm-operator/slurm';
import { type Address, pathOf } from '../address.ts';
import { Meter } from '../bar.tsx';
import { clock, timeLimit } from '../format.ts';
import { Link } from '../link.tsx';
import type { LiveCluster } from '../live-cluster.ts';
import { Scroll } from '../scroll.tsx';
import { useEvery, useRead } from '../use-read.ts';

interface PartitionRow extends SlurmPartition {
  readonly use: {
    readonly idle: number;
    readonly busy: number;
    readonly unavailable: number;
    readonly cpus: number;
    readonly cpusUsed: number;
    readonly gpus: number;
    readonly gpusUsed: number;
    readonly running: number;
    readonly pending: number;
  };
}

interface Limits {
  readonly partitions: readonly PartitionRow[];
  readonly reservations: readonly SlurmReservation[];
  readonly qos: { readonly items: readonly SlurmQos[]; readonly missing: string };
}

const limit = (minutes: SlurmPartition['maxTime']) => (minutes === 'infinite' ? 'no limit' : timeLimit(minutes ?? 0));
const counts = (tres: Readonly<Record<string, number>>) =>
  Object.entries(tres)
    .map(([name, many]) => `${name}=${many}`)
    .join(', ');

export function Partitions({ at, live }: { at: Extract<Address, { cluster: string }>; live: LiveCluster }) {
  const { value, problem } = useRead<Limits>(`${live.base}/partitions`, useEvery(15_000));
  return (
    <>
      {problem !== '' && <p class="notice bad">{problem}</p>}
      <section>
        <h2 class="page">Partitions</h2>
        <Scroll label="Partitions">
          <table>
            <thead>
              <tr>
                <th>Partition</th>
                <th>State</th>
                <th class="number">Nodes</th>
                <th class="number">Idle</th>
                <th class="number">CPUs in use</th>
                <th class="number">GPUs in use</th>
                <th class="number">Running</th>
                <th class="number">Pending</th>
                <th>Time limit</th>
                <th>Default time</th>
                <th>Nodes of one job</th>
                <th>Node list</th>
              </tr>
            </thead>
            <tbody>
              {value?.partitions.map(({ use, ...one }) => (
                <tr key={one.name}>
                  <td class="row-name">
                    <Link to={pathOf(at, 'jobs', '', new URLSearchParams({ partition: one.name }))}>{one.name}</Link>
                    {one.isDefault ? <span class="quiet"> default</span> : ''}
                  </td>
                  <td>
                    <span class={`pill ${one.state.includes('UP') ? 'good' : 'warning'}`}>{one.state.join(', ').toLowerCase()}</span>
                  </td>
                  <td class="number">{one.nodeCount}</td>
                  <td class="number">{use.idle}</td>
                  <td class="number">
                    <Meter part={use.cpusUsed} whole={use.cpus} text={`${use.cpusUsed}/${use.cpus}`} />
                  </td>
                  <td class="number">{use.gpus === 0 ? '' : <Meter part={use.gpusUsed} whole={use.gpus} text={`${use.gpusUsed}/${use.gpus}`} />}</td>
                  <td class="number">{use.running}</td>
                  <td class="number">{use.pending}</td>
                  <td>{limit(one.maxTime)}</td>
                  <td>{limit(one.defaultTime)}</td>
                  <td>{one.maxNodes === undefined || one.maxNodes === 'infinite' ? 'no limit' : `at most ${one.maxNodes}`}</td>
                  <td class="text small">{one.nodes}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </section>
      <section>
        <h2>Reservations</h2>
        {value?.reservations.length === 0 && <p class="quiet">There are none.</p>}
        {(value?.reservations.length ?? 0) > 0 && <Reservations rows={value?.reservations ?? []} />}
      </section>
      <section>
        <h2>Quality of service</h2>
        {value !== undefined && value.qos.missing !== '' && <p class="quiet">{value.qos.missing}</p>}
        {(value?.qos.items.length ?? 0) > 0 && (
          <Scroll label="Quality of service">
            <table>
              <thead>
                <tr>
                  <th>QOS</th>
                  <th class="number">Priority</th>
                  <th>Each user</th>
                  <th>Each job</th>
                  <th>All together</th>
                  <th>Preempts</th>
                  <th>Flags</th>
                </tr>
              </thead>
              <tbody>
                {value?.qos.items.map(({ name, description, priority, limits, preempts, flags }) => (
                  <tr key={name}>
                    <td class="row-name">
                      <Link to={pathOf(at, 'jobs', '', new URLSearchParams({ qos: name }))}>{name}</Link> <span class="quiet">{description === name ? '' : description}</span>
                    </td>
                    <td class="number">{priority}</td>
                    <td>{counts(limits.perUser.tres) || 'no limit'}</td>
                    <td>{[counts(limits.perJob.tres), limits.perJob.wallMinutes === 'infinite' ? '' : limit(limits.perJob.wallMinutes)].filter(Boolean).join(', ') || 'no limit'}</td>
                    <td>{counts(limits.group.tres) || 'no limit'}</td>
                    <td>{preempts.join(', ')}</td>
                    <td class="small">{flags.join(', ').toLowerCase()}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </section>
    </>
  );
}

/** On one axis from now on; the times are beside it in words. */
function Reservations({ rows }: { rows: readonly SlurmReservation[] }) {
  const now = Date.now();
  const from = Math.min(now, ...rows.map(({ startsAt }) => startsAt ?? now));
  const until = Math.max(from + 3_600_000, ...rows.map(({ endsAt }) => Math.min(endsAt ?? now, now + 30 * 86_400_000)));
  const x = (at: number) => ((Math.min(Math.max(at, from), until) - from) / (until - from)) * 200;
  return (
    <Scroll label="Reservations">
      <table>
        <thead>
          <tr>
            <th>Reservation</th>
            <th>From</th>
            <th>Until</th>
            <th>From {clock(from, now)} to {clock(until, now)}</th>
            <th>For</th>
            <th class="number">Nodes</th>
            <th>Flags</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, startsAt = now, endsAt = until, users, accounts, nodeCount, flags }) => (
            <tr key={name}>
              <td class="row-name">{name}</td>
              <td>{clock(startsAt, now)}</td>
              <td>{clock(endsAt, now)}</td>
              <td>
                <svg viewBox="0 0 200 10" width="200" height="10" aria-hidden="true">
                  <rect class="track" width="200" height="10" rx="2" />
                  <rect class="fill" x={x(startsAt)} width={Math.max(2, x(endsAt) - x(startsAt))} height="10" rx="2" />
                </svg>
              </td>
              <td>{[...users, ...accounts].join(', ')}</td>
              <td class="number">{nodeCount}</td>
              <td class="small">{flags.join(', ').toLowerCase()}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
