import type { LiveCluster } from '../live-cluster.ts';
import { useEvery, useRead } from '../use-read.ts';

interface NodeSetRow {
  readonly name: string;
  readonly replicas: number | null;
  readonly ready: number;
  readonly updated: number;
  readonly total: number;
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];
}

export function Rollouts({ live }: { live: LiveCluster }) {
  const { value, problem } = useRead<{ nodeSets: readonly NodeSetRow[] }>(`${live.base}/rollouts`, useEvery(5_000));
  return (
    <section>
      <h2>NodeSets</h2>
      {problem !== '' && <p class="notice bad">{problem}</p>}
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>NodeSet</th>
              <th class="number">Desired</th>
              <th class="number">Workers</th>
              <th class="number">Ready</th>
              <th class="number">Current template</th>
              <th>Conditions</th>
            </tr>
          </thead>
          <tbody>
            {value?.nodeSets.map(({ name, replicas, ready, updated, total, conditions }) => (
              <tr key={name}>
                <td class="row-name">{name}</td>
                <td class="number">{replicas ?? '–'}</td>
                <td class="number">{total}</td>
                <td class="number">{ready}</td>
                <td class="number">
                  {updated}/{total}
                </td>
                <td>
                  {conditions
                    .filter(({ type, status }) => (type === 'Ready' || type === 'Available') !== (status === 'True'))
                    .map(({ type, reason, message }) => (
                      <div key={type}>
                        <strong>{type}</strong> {reason} <span class="quiet">{message}</span>
                      </div>
                    ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
