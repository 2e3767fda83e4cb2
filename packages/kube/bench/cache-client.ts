/** The client side of the cache benchmark: fills a projected cache and then follows its changes. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Cache, type ClusterConfig, createClient, type Pod, pods, project } from '../src/index.ts';

const RESOLUTION = 2;

/** Prints its figures as one JSON message to the parent. */
export async function runCacheClient(
  url: string,
  ca: string,
  expected: number,
  watchSeconds: number,
): Promise<void> {
  const config: ClusterConfig = {
    server: url,
    namespace: 'default',
    identity: () => Promise.resolve(identity),
  };
  const identity = { ca };
  const cache = new Cache(createClient(config));
  const informer = cache.informer(pods, {
    transform: project<Pod>({
      keep: [
        'spec.nodeName',
        'status.phase',
        'status.podIP',
        'status.conditions.type',
        'status.conditions.status',
        'status.containerStatuses.name',
        'status.containerStatuses.ready',
        'status.containerStatuses.restartCount',
      ],
      share: ['spec.nodeName', 'status.phase', 'status.conditions', 'status.containerStatuses'],
    }),
    indexes: { node: (pod) => [pod.spec?.nodeName ?? ''] },
  });
  const stop = new AbortController();
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  const began = performance.now();
  const running = cache.start(stop.signal);
  await informer.waitForSync({ timeout: 120_000 });
  const seconds = (performance.now() - began) / 1000;
  const stall = delay.max / 1e6 - RESOLUTION;
  if (informer.size !== expected) throw new Error(`${informer.size} pods in the cache, not ${expected}`);
  const rss = process.memoryUsage.rss() / 2 ** 20;
  let events = 0;
  const unsubscribe = informer.subscribe(() => (events += 1));
  events = 0;
  const cpu = process.cpuUsage();
  const watchBegan = performance.now();
  await new Promise((resolve) => setTimeout(resolve, watchSeconds * 1000));
  const used = process.cpuUsage(cpu);
  const watched = (performance.now() - watchBegan) / 1000;
  unsubscribe();
  process.send?.({
    seconds,
    rss,
    stall,
    eventsPerSecond: events / watched,
    cpuPercent: (used.user + used.system) / 1e4 / watched,
    rssAfterWatch: process.memoryUsage.rss() / 2 ** 20,
  });
  stop.abort();
  await running;
  process.exit(0);
}
