import { clock } from '../format.ts';
import type { LiveCluster } from '../live-cluster.ts';
import { Scroll } from '../scroll.tsx';
import { useEvery, useRead } from '../use-read.ts';

interface Entry {
  readonly at: number;
  readonly object: string;
  readonly what: string;
  readonly message: string;
  readonly warning: boolean;
}

/** Conditions and events of all objects of the cluster, the newest first. */
export function Timeline({ live }: { live: LiveCluster }) {
  const { value, problem } = useRead<{ entries: readonly Entry[] }>(`${live.base}/timeline`, useEvery(10_000));
  return (
    <section>
      <h2 class="page">Timeline</h2>
      {problem !== '' && <p class="notice bad">{problem}</p>}
      <Scroll label="Timeline">
        <table>
          <thead>
            <tr>
              <th>Time</th>
              <th>Object</th>
              <th>What</th>
              <th>Message</th>
            </tr>
          </thead>
          <tbody>
            {value?.entries.map(({ at, object, what, message, warning }) => (
              <tr key={`${at} ${object} ${what} ${message}`}>
                <td>{clock(at, Date.now())}</td>
                <td>{object}</td>
                <td>{warning ? <span class="pill warning">{what}</span> : what}</td>
                <td class="text">{message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
