import type { Figures, Freshness } from '../../live/figures.ts';
import { pathOf } from '../address.ts';
import { count, percent } from '../format.ts';
import { Link } from '../link.tsx';
import { Scroll } from '../scroll.tsx';
import { useEvery, useRead } from '../use-read.ts';

interface Summary {
  readonly namespace: string;
  readonly name: string;
  readonly ready: string;
  readonly message: string;
  readonly figures: Figures;
  readonly freshness: { readonly nodes: Freshness };
}

/** Every cluster that you may see, the first problem of each beside it. */
export function Clusters() {
  const { value, problem } = useRead<{ clusters: readonly Summary[] }>('/api/clusters', useEvery(5_000));
  return (
    <section>
      <h2 class="page">Clusters</h2>
      {problem !== '' && <p class="notice bad">{problem}</p>}
      {value?.clusters.length === 0 && (
        <p>You may see no cluster. Ask for the right to get clusters.slinky.slurm.net in its namespace.</p>
      )}
      <Scroll label="Clusters">
        <table>
          <thead>
            <tr>
              <th>Cluster</th>
              <th>Ready</th>
              <th class="number">Nodes</th>
              <th class="number">Idle</th>
              <th class="number">Drained</th>
              <th class="number">Down</th>
              <th class="number">CPUs in use</th>
              <th class="number">GPUs in use</th>
              <th class="number">Running</th>
              <th class="number">Pending</th>
              <th>What is wrong</th>
            </tr>
          </thead>
          <tbody>
            {value?.clusters.map(({ namespace, name, ready, message, figures, freshness }) => {
              const { nodes, cpus, gpus, jobs } = figures;
              const all = Object.values(nodes).reduce((sum, one) => sum + one, 0);
              const isKnown = freshness.nodes.kind === 'known';
              return (
                <tr key={`${namespace}/${name}`}>
                  <td class="row-name">
                    <Link to={pathOf({ namespace, cluster: name }, 'overview')}>{name}</Link>{' '}
                    <span class="quiet">{namespace}</span>
                  </td>
                  <td>
                    <span class={`pill ${ready === 'True' ? 'good' : 'bad'}`}>{ready === 'True' ? 'ready' : ready === 'False' ? 'not ready' : 'unknown'}</span>
                  </td>
                  <td class="number">{all}</td>
                  <td class="number">{nodes.idle}</td>
                  <td class="number">{nodes.drained + nodes.draining}</td>
                  <td class="number">{nodes.down + nodes.unresponsive}</td>
                  <td class="number">{percent(cpus.used, cpus.all)}</td>
                  <td class="number">{gpus.all === 0 ? '–' : `${gpus.used}/${gpus.all}`}</td>
                  <td class="number">{jobs.running}</td>
                  <td class="number">{jobs.pending}</td>
                  <td class="text">{isKnown ? message : `Slurm is unknown. ${message}`}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
      {value !== undefined && <p class="quiet">{count(value.clusters.length, 'cluster')}</p>}
    </section>
  );
}
