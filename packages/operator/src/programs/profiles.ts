/** `--profile`: where the time and the memory go, in the forms that Chrome's developer tools and speedscope open. */
import { Session } from 'node:inspector/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { type StatusAnswer, type StatusRequest, serveStatus } from '@slurm-operator/kube';
import type { Address } from './flag-types.ts';

const longestSeconds = 120;

export async function serveProfiles(address: Address, signal: AbortSignal): Promise<void> {
  const route = ({ path, query }: StatusRequest): Promise<StatusAnswer> | undefined => {
    if (path === '/debug/pprof/profile') return cpuProfile(query, signal);
    if (path === '/debug/pprof/heap') return heapProfile(signal);
    return undefined;
  };
  const { closed } = await serveStatus(address, { routes: [route] }, signal);
  await closed;
}

async function cpuProfile(query: string, signal: AbortSignal): Promise<StatusAnswer> {
  const seconds = Number(new URLSearchParams(query).get('seconds') ?? '30');
  if (!(seconds > 0 && seconds <= longestSeconds))
    return { status: 400, text: `seconds must be a number up to ${longestSeconds}\n` };
  return inSession(async (session) => {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await wait(seconds * 1000, undefined, { signal });
    const { profile } = await session.post('Profiler.stop');
    return json(profile);
  });
}

/** Which functions hold memory; a sample, because a whole snapshot stops the program for seconds. */
async function heapProfile(signal: AbortSignal): Promise<StatusAnswer> {
  return inSession(async (session) => {
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.startSampling');
    await wait(1000, undefined, { signal });
    const { profile } = await session.post('HeapProfiler.stopSampling');
    return json(profile);
  });
}

async function inSession(work: (session: Session) => Promise<StatusAnswer>): Promise<StatusAnswer> {
  const session = new Session();
  session.connect();
  try {
    return await work(session);
  } finally {
    session.disconnect();
  }
}

const json = (value: object): StatusAnswer => ({
  status: 200,
  type: 'application/json',
  text: JSON.stringify(value),
});
