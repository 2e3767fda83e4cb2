/** The figures of a cluster, what is wrong with it now, and the last 24 hours. */
import type { Charts } from '../../live/figures.ts';
import { pathOf } from '../address.ts';
import { Bar } from '../bar.tsx';
import { Chart } from '../chart.tsx';
import { count, percent } from '../format.ts';
import { Link } from '../link.tsx';
import type { LiveCluster } from '../live-cluster.ts';
import { StateBar } from '../state-bar.tsx';
import { useEvery, useRead } from '../use-read.ts';
import { explainReason } from './reasons.ts';
import type { NodeSetRow } from './rollouts.tsx';

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
  const rollouts = useRead<{ nodeSets: readonly NodeSetRow[] }>(`${live.base}/rollouts`, useEvery(15_000));
  const rolling = (rollouts.value?.nodeSets ?? []).filter(({ updated, replicas, total }) => updated < (replicas ?? total));
  const figures = live.figures.value;
  if (figures === undefined) return <p class="quiet">Reading the cluster…</p>;
  const { nodes, cpus, gpus, jobs, waiting } = figures;
  const all = Object.values(nodes).reduce((sum, one) => sum + one, 0);
  const card = (label: string, text: string, note: string) => (
    <div class="card">
      <div class="value">{text}</div>
      <div class="label">{label}</div>
      <div class="note">{note}</div>
    </div>
  );
  const longest = Math.max(1, ...waiting.map((one) => one.jobs));
  return (
    <>
      <h2 class="page">Overview</h2>
      <div class="cards">
        {card('jobs running', jobs.running.toLocaleString('en'), `${nodes.mixed + nodes.allocated + nodes.draining} nodes with jobs`)}
        {card('jobs pending', jobs.pending.toLocaleString('en'), waiting[0] === undefined ? 'nothing waits' : `most for ${waiting[0].reason}`)}
        {card('CPUs in use', percent(cpus.used, cpus.all), `${cpus.used.toLocaleString('en')} of ${cpus.all.toLocaleString('en')}`)}
        {gpus.all > 0 && card('GPUs in use', percent(gpus.used, gpus.all), `${gpus.used.toLocaleString('en')} of ${gpus.all.toLocaleString('en')}`)}
        {card('nodes idle', String(nodes.idle), `of ${all}`)}
        {card('nodes drained', String(nodes.drained + nodes.draining), nodes.draining === 0 ? 'none with jobs' : `${nodes.draining} still with jobs`)}
        {card('nodes down', String(nodes.down + nodes.unresponsive), nodes.unresponsive === 0 ? '' : `${nodes.unresponsive} do not answer`)}
      </div>
      {problem !== '' && <p class="notice bad">{problem}</p>}
      <section>
        <h2>
          <Link to={pathOf(at, 'nodes')}>{count(all, 'node')}</Link>
        </h2>
        <StateBar nodes={nodes} />
      </section>
      <div class="columns">
        <section>
          <h2>What is wrong now</h2>
          {value === undefined && <p class="quiet">Looking…</p>}
          {value !== undefined && value.findings.length === 0 && <p class="good">Nothing was found.</p>}
          {value?.findings.map((finding) => (
            <Finding key={`${finding.rule} ${finding.subject.kind} ${finding.subject.name}`} finding={finding} />
          ))}
          {value !== undefined && value.unchecked.length > 0 && (
            <p class="quiet small">Not checked: {value.unchecked.map(({ evidence, why }) => `${evidence} (${why})`).join('; ')}</p>
          )}
        </section>
        <div>
          <section>
            <h2>Why jobs wait</h2>
            {waiting.length === 0 && <p class="good">No job waits.</p>}
            {waiting.map(({ reason, jobs: many }) => (
              <div key={reason}>
                <Link to={pathOf(at, 'jobs', '', new URLSearchParams({ state: 'PENDING', reason }))}>{reason}</Link>
                <Bar part={many} whole={longest} text={`${count(many, 'job')}. ${explainReason(reason)}`} />
              </div>
            ))}
          </section>
          {rolling.length > 0 && (
            <section>
              <h2>
                <Link to={pathOf(at, 'rollouts')}>Rollouts in progress</Link>
              </h2>
              {rolling.map(({ name, replicas, total, updated, conditions }) => (
                <div key={name}>
                  <Bar part={updated} whole={replicas ?? total} text={`${name}: ${updated} of ${replicas ?? total} have the newest revision`} />
                  <p class="small">{conditions.find(({ type }) => type === 'Progressing')?.message}</p>
                </div>
              ))}
            </section>
          )}
        </div>
      </div>
      {value !== undefined && (
        <div class="columns">
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
          {gpus.all > 0 && <Chart title="GPUs" charts={value.charts} lines={[['gpusUsed', 'in use', '--use-allocated'], ['gpusAll', 'all', '--use-quiet']]} />}
        </div>
      )}
    </>
  );
}

function Finding({ finding }: { finding: Finding }) {
  return (
    <article class="finding">
      <p>
        <span class={`pill ${finding.severity === 'error' ? 'bad' : 'warning'}`}>{finding.severity}</span> {finding.says}
      </p>
      {finding.because.map((line) => (
        <p class="quiet small" key={line}>
          {line}
        </p>
      ))}
      {finding.fix.length > 0 && <pre>{finding.fix.join('\n')}</pre>}
    </article>
  );
}
