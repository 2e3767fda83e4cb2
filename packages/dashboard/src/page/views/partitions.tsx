import type { SlurmPartition } from '@slurm-operator/slurm';
import { timeLimit } from '../format.ts';
import type { LiveCluster } from '../live-cluster.ts';
import { useEvery, useRead } from '../use-read.ts';

const limit = (minutes: SlurmPartition['maxTime']) => (minutes === 'infinite' ? 'no limit' : timeLimit(minutes ?? 0));

export function Partitions({ live }: { live: LiveCluster }) {
  const { value, problem } = useRead<{ partitions: readonly SlurmPartition[] }>(`${live.base}/partitions`, useEvery(30_000));
  return (
    <section>
      <h2>Partitions</h2>
      {problem !== '' && <p class="notice bad">{problem}</p>}
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>Partition</th>
              <th>State</th>
              <th class="number">Nodes</th>
              <th class="number">CPUs</th>
              <th>Time limit</th>
              <th>Default time</th>
              <th>Node list</th>
            </tr>
          </thead>
          <tbody>
            {value?.partitions.map((one) => (
              <tr key={one.name}>
                <td class="row-name">
                  {one.name}
                  {one.isDefault ? ' (default)' : ''}
                </td>
                <td>{one.state.join(', ').toLowerCase()}</td>
                <td class="number">{one.nodeCount}</td>
                <td class="number">{one.cpuCount}</td>
                <td>{limit(one.maxTime)}</td>
                <td>{limit(one.defaultTime)}</td>
                <td>{one.nodes}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
