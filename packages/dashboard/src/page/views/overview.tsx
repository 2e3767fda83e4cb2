/** The figures of a cluster, what is wrong with it now, and the last 24 hours. */
import type { Charts } from '../../live/figures.ts';
import { pathOf } from '../address.ts';
import { Chart } from '../chart.tsx';
import { count, percent } from '../format.ts';
import { Link } from '../link.tsx';
import type { LiveCluster } from '../live-cluster.ts';
import { useEvery, useRead } from '../use-read.ts';

/** As `packages/advice` makes them. */
interface Finding {
  readonly rule: string;
  readonly severity: 'error' | 'warning' | 'info';
  readonly subject: { readonly kind: string; readonly name: string };
  readonly says: string;
  readonly because: readonly string[];
  readonly fix: readonly string[];
}

interface OverviewBody {
  readonly charts: Charts;
  readonly findings: readonly Finding[];
  readonly unchecked: readonly { readonly evidence: string; readonly why: string }[];
}

export function Overview({ at, live }: { at: { namespace: string; cluster: string }; live: LiveCluster }) {
  const { value, problem } = useRead<OverviewBody>(`${live.base}/overview`, useEvery(15_000));
  const figures = live.figures.value;
  if (figures === undefined) return <p class="quiet">Reading the cluster…</p>;
  const { nodes, cpus, gpus, jobs, waiting } = figures;
  const card = (label: string, text: string, note = '') => (
    <div class="card">
      <div class="value">{text}</div>
      <div class="label">{label}</div>
      {note !== '' && <div class="quiet">{note}</div>}
    </div>
  );
  return (
    <>
      <div class="cards">
        {card('jobs running', jobs.running.toLocaleString('en'))}
        {card('jobs pending', jobs.pending.toLocaleString('en'), waiting[0] === undefined ? '' : `mostly ${waiting[0].reason}`)}
        {card('CPUs in use', percent(cpus.used, cpus.all), `${cpus.used} of ${cpus.all}`)}
        {gpus.all > 0 && card('GPUs in use', percent(gpus.used, gpus.all), `${gpus.used} of ${gpus.all}`)}
        {card('nodes idle', String(nodes.idle), `${nodes.mixed + nodes.allocated} with jobs`)}
        {card('nodes drained', String(nodes.drained + nodes.draining), `${nodes.draining} still with jobs`)}
        {card('nodes down', String(nodes.down + nodes.unresponsive))}
      </div>
      {problem !== '' && <p class="notice bad">{problem}</p>}
      <section>
        <h2>What is wrong now</h2>
        {value !== undefined && value.findings.length === 0 && <p class="good">Nothing was found.</p>}
        {value?.findings.map((finding) => (
          <article key={`${finding.rule} ${finding.subject.kind} ${finding.subject.name}`}>
            <p>
              <strong class={finding.severity === 'error' ? 'bad' : 'warning'}>{finding.severity}</strong>{' '}
              {finding.says}
            </p>
            {finding.because.map((line) => (
              <p class="quiet" key={line}>
                {line}
              </p>
            ))}
            {finding.fix.length > 0 && <pre>{finding.fix.join('\n')}</pre>}
          </article>
        ))}
        {value !== undefined && value.unchecked.length > 0 && (
          <p class="quiet">Not checked: {value.unchecked.map(({ evidence, why }) => `${evidence} (${why})`).join('; ')}</p>
        )}
      </section>
      {waiting.length > 0 && (
        <section>
          <h2>Why jobs wait</h2>
          <ul>
            {waiting.map(({ reason, jobs: many }) => (
              <li key={reason}>
                <Link to={pathOf(at, 'jobs', '', new URLSearchParams({ state: 'PENDING', reason }))}>{reason}</Link>{' '}
                <span class="quiet">{count(many, 'job')}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {value !== undefined && (
        <>
          <Chart title="Jobs" charts={value.charts} lines={[['jobsRunning', 'running', '--use-allocated'], ['jobsPending', 'pending', '--use-draining']]} />
          <Chart
            title="Nodes"
            charts={value.charts}
            lines={[
              ['nodesBusy', 'with jobs', '--use-allocated'],
              ['nodesIdle', 'idle', '--use-idle'],
              ['nodesDrained', 'drained', '--use-drained'],
              ['nodesDown', 'down', '--use-down'],
            ]}
          />
        </>
      )}
    </>
  );
}
