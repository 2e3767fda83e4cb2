/** How old what you see is. Unknown is said, never hidden. */
import { clock, span } from '../format.ts';
import type { LiveCluster } from '../live-cluster.ts';
import { useEvery } from '../use-read.ts';

export function FreshnessNotice({ live }: { live: LiveCluster }) {
  useEvery(5_000);
  const now = Date.now();
  const freshness = live.freshness.value;
  const unknown = freshness === undefined ? [] : [freshness.nodes, freshness.jobs].filter(({ kind }) => kind === 'unknown');
  return (
    <div aria-live="polite">
      {live.problem.value !== '' && <p class="notice">{live.problem.value}</p>}
      {unknown.slice(0, 1).map((one) =>
        one.kind === 'known' ? null : (
          <p class="notice bad" key="slurm">
            <strong>Slurm is unknown since {clock(one.since, now)}</strong> ({span(now - one.since)}). {one.why}{' '}
            {one.lastAt === undefined ? 'Nothing was read yet.' : `What you see was read at ${clock(one.lastAt, now)}.`}
          </p>
        ),
      )}
    </div>
  );
}
