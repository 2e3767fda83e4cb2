/** Windows of the list of jobs that were worked out for its newest version: hundreds of browsers look at few of them. */
import type { ClusterFeed } from './cluster-feed.ts';
import type { JobWindow } from './job-query.ts';

/** A window has at most 500 rows. */
const mostKept = 50;

interface Kept {
  readonly version: number;
  readonly windows: Map<string, JobWindow>;
}

export class JobWindows {
  readonly #kept = new WeakMap<ClusterFeed, Kept>();

  of(feed: ClusterFeed, version: number, key: string, work: () => JobWindow): JobWindow {
    let kept = this.#kept.get(feed);
    if (kept?.version !== version) {
      kept = { version, windows: new Map() };
      this.#kept.set(feed, kept);
    }
    const known = kept.windows.get(key);
    if (known !== undefined) return known;
    const found = work();
    kept.windows.set(key, found);
    for (const oldest of kept.windows.keys()) {
      if (kept.windows.size <= mostKept) break;
      kept.windows.delete(oldest);
    }
    return found;
  }
}
