/** How old what you see is. Unknown is said, never hidden. */
import { clock, span } from '../format.ts';
import type { LiveCluster } from '../live-cluster.ts';
import { useEvery } from '../use-read.ts';

export function FreshnessNotice({ live }: { live: LiveCluster }) {
  useEvery(5_000);
  const freshness = live.freshness.value;
  if (freshness === undefined) return <div aria-live="polite">{live.problem.value !== '' && <p class="notice">{live.problem.value}</p>}</div>;
  // In the time of the server.
  const now = freshness.now + (Date.now() - freshness.receivedAt);
  const both = [freshness.nodes, freshness.jobs];
  const unknown = both.find((one) => one.kind === 'unknown');
  const read = Math.min(...both.map((one) => (one.kind === 'known' ? one.at : (one.lastAt ?? now))));
  return (
    <>
      <div aria-live="polite">
        {live.problem.value !== '' && <p class="notice">{live.problem.value}</p>}
        {unknown?.kind === 'unknown' && (
          <p class="notice bad">
            <strong>Slurm is unknown since {clock(unknown.since, now)}</strong> ({span(now - unknown.since)}). {unknown.why}{' '}
            {unknown.lastAt === undefined ? 'Nothing was read yet.' : `What you see was read at ${clock(unknown.lastAt, now)}.`}
          </p>
        )}
      </div>
      {unknown === undefined && <p class="age quiet small">Slurm was read {span(now - read)} ago</p>}
    </>
  );
}
