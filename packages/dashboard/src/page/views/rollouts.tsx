/** NodeSets: how far each rollout is, what holds it, when it ends, and the brake. */
import { useState } from 'preact/hooks';
import { clock, count } from '../format.ts';
import type { LiveCluster } from '../live-cluster.ts';
import type { rightsIn } from '../me.ts';
import { Bar } from '../bar.tsx';
import { useEvery, useRead } from '../use-read.ts';
import { ConfirmDialog } from './confirm.tsx';

export interface NodeSetRow {
  readonly name: string;
  readonly replicas: number | null;
  readonly ready: number;
  readonly updated: number;
  readonly total: number;
  readonly paused: boolean;
  readonly maxUnavailable: number | string | null;
  readonly isNew: boolean;
  readonly plan?: {
    readonly create: number;
    readonly replace: number;
    readonly remove: number;
    readonly earliestAt?: number;
    readonly latestAt?: number;
    readonly withheld: readonly string[];
    readonly lowestAvailable: number;
    readonly lastJob?: { readonly id: string; readonly user: string; readonly nodes: readonly string[] };
    readonly endless: readonly { readonly id: string; readonly user: string }[];
  };
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];
}

const good = new Set(['Ready', 'Available', 'KeysCurrent', 'ConfigApplied']);

function Plan({ plan }: { plan: NonNullable<NodeSetRow['plan']> }) {
  const now = Date.now();
  const { create, replace, remove, earliestAt, latestAt, lastJob, endless, withheld, lowestAvailable } = plan;
  const steps = [create > 0 && `${create} to create`, replace > 0 && `${replace} to replace`, remove > 0 && `${remove} to remove`];
  const end = (at: number | undefined) => (at === undefined ? 'not known' : clock(at, now));
  return (
    <dl class="plan">
      <dt>Left to do</dt>
      <dd>{steps.filter(Boolean).join(', ')}; at least {count(lowestAvailable, 'worker')} can take jobs meanwhile</dd>
      <dt>Over</dt>
      <dd>
        {end(earliestAt)} if its jobs ended now, {end(latestAt)} at the latest
      </dd>
      {lastJob !== undefined && (
        <>
          <dt>Last</dt>
          <dd>
            job {lastJob.id} of {lastJob.user} on {lastJob.nodes.join(', ')}
          </dd>
        </>
      )}
      {endless.length > 0 && (
        <>
          <dt>Without an end</dt>
          <dd>{endless.map(({ id, user }) => (id === '' ? 'a job without a time limit' : `job ${id} of ${user} has no time limit`)).join(', ')}</dd>
        </>
      )}
      {withheld.map((line) => (
        <>
          <dt>Held</dt>
          <dd>{line}</dd>
        </>
      ))}
    </dl>
  );
}

export function Rollouts({ live, rights }: { live: LiveCluster; rights: ReturnType<typeof rightsIn> }) {
  const { value, problem } = useRead<{ nodeSets: readonly NodeSetRow[] }>(`${live.base}/rollouts`, useEvery(2_000));
  const [asking, setAsking] = useState<NodeSetRow | undefined>(undefined);
  const action = asking?.paused === true ? 'resume' : 'pause';
  return (
    <>
      <h2 class="page">Rollouts</h2>
      {problem !== '' && <p class="notice bad">{problem}</p>}
      {value?.nodeSets.length === 0 && <p class="quiet">This cluster has no NodeSets.</p>}
      {value?.nodeSets.map((set) => {
        const isDone = set.updated >= (set.replicas ?? set.total) && !set.isNew;
        const notes = set.conditions.filter(({ type, status }) => good.has(type) !== (status === 'True'));
        return (
          <section key={set.name} aria-labelledby={`set-${set.name}`}>
            <div class="head">
              <h3 id={`set-${set.name}`}>{set.name}</h3>
              <span class={`pill ${set.paused ? 'warning' : isDone ? 'good' : 'busy'}`}>
                {set.paused ? 'paused' : isDone ? 'complete' : 'rolling out'}
              </span>
              <span class="quiet">
                {count(set.total, 'worker')}, {set.ready} ready
                {set.maxUnavailable === null ? '' : `, at most ${set.maxUnavailable} unavailable`}
              </span>
              {rights.changeRollouts === true && (!isDone || set.paused) && (
                <button type="button" class="end" onClick={() => setAsking(set)}>
                  {set.paused ? 'Resume' : 'Pause'} {set.name}
                </button>
              )}
            </div>
            <Bar part={set.updated} whole={set.replicas ?? set.total} text={`${set.updated} of ${set.replicas ?? set.total} have the newest revision`} />
            {set.plan !== undefined && <Plan plan={set.plan} />}
            {notes.map(({ type, reason, message }) => (
              <p key={type}>
                <strong>{type}</strong> <span class="quiet">{reason}</span> {message}
              </p>
            ))}
          </section>
        );
      })}
      {asking !== undefined && (
        <ConfirmDialog
          title={`${action === 'pause' ? 'Pause' : 'Resume'} the rollout of ${asking.name}`}
          text={
            action === 'pause'
              ? 'Workers that are being replaced are finished; no other one is begun. Jobs go on.'
              : 'The operator goes on with the workers that have the old revision.'
          }
          items={[`NodeSet ${asking.name}, ${count((asking.replicas ?? asking.total) - asking.updated, 'worker')} to go`]}
          path={`${live.base}/rollouts/${action}`}
          body={{ nodeSet: asking.name }}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  );
}
