/** The server of the dashboard in a process of its own, so that its memory and CPU are measured alone. Driven over the IPC channel. */
import {
  Access,
  assembleDashboard,
  ClusterFeed,
  type ClusterView,
  Login,
  NoSlurmToken,
  Sessions,
  StaticFiles,
} from '@slurm-operator/dashboard';
import { SlurmClient, staticToken, systemClock } from '@slurm-operator/slurm';

export type ServerAnswer =
  | { readonly kind: 'listening'; readonly port: number }
  /** Nodes and jobs were listed once. */
  | { readonly kind: 'filled'; readonly nodes: number; readonly jobs: number }
  /** A list with this node changed was applied. */
  | { readonly kind: 'listed'; readonly node: string; readonly at: number }
  | { readonly kind: 'usage'; readonly rss: number; readonly cpuMs: number };

const [slurm = '', token = '', page = ''] = process.argv.slice(2);
const say = (answer: ServerAnswer) => void process.send?.(answer);
const clock = systemClock;
const client = new SlurmClient({ server: slurm, token: staticToken(token), timeoutMs: 600_000 });
const feed = new ClusterFeed({ client, clock, firstVersion: 1 });
const ref = { namespace: 'slurm', name: 'slurm' };
const view: ClusterView = {
  ref,
  feed,
  reader: client,
  objects: () => undefined,
  slurmIdentity: ({ user }) => ({ kind: 'user', name: user.username }),
  configFiles: () => Promise.resolve(undefined),
  jobTemplates: () => Promise.resolve([]),
  planRollout: () => Promise.resolve(undefined),
  pauseRollout: () => Promise.reject(new NoSlurmToken('not here', 403)),
  actAs: () => Promise.reject(new NoSlurmToken('not here', 403)),
};
const sessions = new Sessions({ clock });
const { server } = assembleDashboard({
  views: { list: () => [view], find: ({ name }) => (name === ref.name ? view : undefined) },
  clock,
  hosts: 'any',
  secure: false,
  sessions,
  access: new Access({ clock, review: () => Promise.resolve(true) }),
  login: new Login({
    sessions,
    clock,
    expiryOf: () => undefined,
    review: (given) => Promise.resolve({ username: given }),
  }),
  files: await StaticFiles.read(page),
  audit: () => {},
  onError: (error) => console.error(error),
});
let isFilled = false;
feed.subscribe((event) => {
  if (event.type === 'nodes')
    for (const { key } of event.delta.set) if (isFilled) say({ kind: 'listed', node: key, at: Date.now() });
  const { nodes, jobs } = feed.freshness;
  if (!isFilled && nodes.kind === 'known' && jobs.kind === 'known') {
    isFilled = true;
    say({ kind: 'filled', nodes: feed.nodes.rows.size, jobs: feed.jobs.rows.size });
  }
});
feed.start();
say({ kind: 'listening', port: await server.listen(0, '127.0.0.1') });

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  say({ kind: 'usage', rss: process.memoryUsage.rss(), cpuMs: (user + system) / 1000 });
});
process.on('disconnect', () => process.exit(0));
