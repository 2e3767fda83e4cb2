/** Puts the page together: who is logged in, which cluster, which view. */
import { signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Right } from '../live/rights.ts';
import { type Address, pathOf, readAddress, type ViewName } from './address.ts';
import { go, Link } from './link.tsx';
import { LiveCluster } from './live-cluster.ts';
import { Mark } from './mark.tsx';
import { type Me, rightsIn, shortName } from './me.ts';
import { onSessionEnd, read, ServerError, write } from './server.ts';
import { Accounts } from './views/accounts.tsx';
import { Clusters } from './views/clusters.tsx';
import { Configuration } from './views/configuration.tsx';
import { FreshnessNotice } from './views/freshness.tsx';
import { Job } from './views/job.tsx';
import { Jobs } from './views/jobs.tsx';
import { Login } from './views/login.tsx';
import { AboutMe } from './views/about-me.tsx';
import { Node } from './views/node.tsx';
import { Nodes } from './views/nodes.tsx';
import { Overview } from './views/overview.tsx';
import { Partitions } from './views/partitions.tsx';
import { Rollouts } from './views/rollouts.tsx';
import { Submit } from './views/submit.tsx';
import { Timeline } from './views/timeline.tsx';

const titles: Readonly<Record<ViewName, string>> = {
  overview: 'Overview',
  nodes: 'Nodes',
  jobs: 'Jobs',
  submit: 'Submit',
  partitions: 'Limits',
  accounts: 'Accounts',
  rollouts: 'Rollouts',
  timeline: 'Timeline',
  configuration: 'Configuration',
};

/** A view that a user may not have is not offered; the server refuses it as well. */
const needs: Partial<Readonly<Record<ViewName, Right>>> = {
  submit: 'submit',
  accounts: 'seeAllJobs',
  configuration: 'seeConfiguration',
};

const address = signal<Address>(readAddress(location.pathname, location.search));
const me = signal<Me | 'loading' | 'anonymous' | 'ended'>('loading');

addEventListener('popstate', () => {
  address.value = readAddress(location.pathname, location.search);
});

/** `kubectl slurm dashboard` prints a link with a code after the #, which browsers do not send. It is gone from the address at once. */
async function logInByLink(): Promise<void> {
  const code = location.hash.slice(1);
  if (!/^[\w-]{32}$/.test(code)) return;
  history.replaceState(null, '', location.pathname + location.search);
  await write('/api/login', { token: code }).catch(() => undefined);
}

async function loadMe(): Promise<void> {
  try {
    me.value = await read<Me>('/api/me');
  } catch (error) {
    if (error instanceof ServerError && error.status === 401) me.value = 'anonymous';
    else setTimeout(() => void loadMe(), 3_000);
  }
}

onSessionEnd(() => {
  if (typeof me.value === 'object') me.value = 'ended';
});

async function logOut(): Promise<void> {
  await write('/api/logout', {}).catch(() => undefined);
  me.value = 'anonymous';
}

function App() {
  const who = me.value;
  const at = address.value;
  if (who === 'loading') return <p class="login">Loading…</p>;
  if (who === 'anonymous' || who === 'ended') return <Login hasEnded={who === 'ended'} onLogin={() => void loadMe()} />;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <h1>
          <Mark />
          <Link to="/">Clusters</Link>
          {'cluster' in at && (
            <>
              <span class="place" aria-hidden="true">
                /
              </span>
              <Link to={pathOf(at, 'overview')}>{at.cluster}</Link>
            </>
          )}
        </h1>
        {'cluster' in at && <span class="place">in namespace {at.namespace}</span>}
        <span class="who">
          <Link to="/me">{shortName(who.user)}</Link>
          <button type="button" onClick={() => void logOut()}>
            Log out
          </button>
        </span>
      </header>
      {'cluster' in at ? (
        <Cluster key={`${at.namespace}/${at.cluster}`} at={at} me={who} />
      ) : (
        <main id="main">{at.view === 'me' ? <AboutMe me={who} /> : <Clusters />}</main>
      )}
    </>
  );
}

function Cluster({ at, me: who }: { at: Extract<Address, { cluster: string }>; me: Me }) {
  const [live, setLive] = useState<LiveCluster | undefined>(undefined);
  const { namespace, cluster } = at;
  useEffect(() => {
    const opened = new LiveCluster(namespace, cluster);
    setLive(opened);
    return () => opened.close();
  }, [namespace, cluster]);
  const rights = rightsIn(who, at);
  useEffect(() => {
    document.title = `${at.item === '' ? titles[at.view] : at.item} · ${cluster} · Slurm`;
  }, [at.view, at.item, cluster]);
  if (live === undefined) return null;
  return (
    <>
      <nav class="views" aria-label="Views of the cluster">
        {(Object.keys(titles) as ViewName[])
          .filter((view) => rights[needs[view] ?? 'see'] === true)
          .map((view) => (
            <Link key={view} to={pathOf(at, view)} current={view === at.view}>
              {titles[view]}
            </Link>
          ))}
      </nav>
      <main id="main">
        <FreshnessNotice live={live} />
        <View at={at} live={live} rights={rights} />
      </main>
    </>
  );
}

function View({
  at,
  live,
  rights,
}: {
  at: Extract<Address, { cluster: string }>;
  live: LiveCluster;
  rights: ReturnType<typeof rightsIn>;
}) {
  switch (at.view) {
    case 'overview':
      return <Overview at={at} live={live} />;
    case 'nodes':
      return at.item === '' ? <Nodes at={at} live={live} rights={rights} /> : <Node at={at} live={live} />;
    case 'jobs':
      return at.item === '' ? <Jobs at={at} live={live} rights={rights} /> : <Job at={at} live={live} rights={rights} />;
    case 'submit':
      return <Submit at={at} live={live} onSubmitted={(id) => go(pathOf(at, 'jobs', String(id)))} />;
    case 'partitions':
      return <Partitions at={at} live={live} />;
    case 'accounts':
      return <Accounts at={at} live={live} />;
    case 'rollouts':
      return <Rollouts live={live} rights={rights} />;
    case 'timeline':
      return <Timeline at={at} live={live} />;
    case 'configuration':
      return <Configuration live={live} />;
  }
}

const root = document.getElementById('page');
if (root !== null) render(<App />, root);
void logInByLink().then(loadMe);
