/** Everything of the simulated slurmrestd that is neither nodes nor jobs. */
import { expandHostlist } from '../../src/meaning/hostlist.ts';
import { bad, good, type Reply } from './reply.ts';
import { type Request, SlurmRefusal } from './request.ts';
import { dropJobs } from './simulated-configuration.ts';
import { number, type Wire } from './wire-format.ts';

export function ping({ version, controllerUp, authenticated }: Request): Reply {
  const responding = controllerUp && authenticated;
  const why = controllerUp
    ? 'Protocol authentication error'
    : 'Unable to contact slurm controller (connect failure)';
  const entry: Wire = { hostname: 'slurmctl', latency: responding ? 900 : 10_000 };
  if (version === 'v0.0.45')
    Object.assign(entry, { responding, primary: true, status: responding ? 'No error' : why });
  else if (version === 'v0.0.41')
    Object.assign(entry, { pinged: responding ? 'UP' : 'DOWN', mode: 'primary' });
  else
    Object.assign(entry, { pinged: responding ? 'UP' : 'DOWN', responding, mode: 'primary', primary: true });
  return good({ pings: [entry] });
}

export const diag = ({ cluster, format }: Request): Reply => good({ statistics: format.statistics(cluster) });

export const licenses = ({ cluster }: Request): Reply =>
  good({ licenses: [], last_update: number(Math.floor(cluster.now() / 1000)) }, ['Zero licenses to dump']);

/** Partitions that only REST made are gone afterwards, with their jobs. */
export function reconfigure(request: Request): Reply {
  request.requireOperator();
  for (const [name, partition] of request.cluster.partitions)
    if (!partition.fromConfiguration) request.cluster.partitions.delete(name);
  dropJobs(request.cluster);
  request.cluster.touchPartitions();
  return good();
}

export function listPartitions({ cluster, format }: Request): Reply {
  const partitions = [...cluster.partitions.keys()].map((name) => format.partition(cluster, name));
  return good({ partitions, last_update: number(cluster.changedAt('partitions')) });
}

export function getPartition({ cluster, format, parameter }: Request): Reply {
  if (cluster.partitions.has(parameter)) return good({ partitions: [format.partition(cluster, parameter)] });
  const text = `Unable to find partition ${parameter}`;
  return cluster.release === '26.05'
    ? good({}, [text])
    : bad(422, 9000, 'Query empty or not RFC7320 compliant', text);
}

export function createPartition(request: Request): Reply {
  request.requireOperator();
  for (const { name } of (request.body['partitions'] ?? []) as { name: string }[])
    request.cluster.partitions.set(name, {
      name,
      fromConfiguration: false,
      state: 'UP',
      features: undefined,
    });
  request.cluster.touchPartitions();
  return good();
}

export function deletePartition(request: Request): Reply {
  request.requireOperator();
  if (!request.cluster.partitions.delete(request.parameter))
    throw new SlurmRefusal(2000, 'Invalid partition name specified');
  request.cluster.touchPartitions();
  return good();
}

export function listReservations({ cluster, format }: Request): Reply {
  const reservations = [...cluster.reservations.values()].map((reservation) =>
    format.reservation(reservation),
  );
  return good({ reservations, last_update: number(Math.floor(cluster.now() / 1000)) });
}

export function getReservation({ cluster, format, parameter }: Request): Reply {
  const found = cluster.reservations.get(parameter);
  if (found !== undefined) return good({ reservations: [format.reservation(found)] });
  return bad(200, 0, 'No error', 'Unable to query reservations');
}

interface WireReservation {
  readonly name?: string;
  readonly start_time?: { readonly number?: number };
  readonly end_time?: { readonly number?: number };
  readonly duration?: { readonly number?: number };
  readonly node_list?: readonly string[] | string;
  readonly users?: readonly string[];
  readonly flags?: readonly string[];
}

export function writeReservation(request: Request): Reply {
  request.requireOperator();
  const { cluster } = request;
  const body = request.body as WireReservation;
  const name = body.name ?? `root_${cluster.reservations.size + 1}`;
  const before = cluster.reservations.get(name);
  const startsAt = (body.start_time?.number ?? 0) * 1000 || (before?.startsAt ?? cluster.now());
  const lists = typeof body.node_list === 'string' ? [body.node_list] : body.node_list;
  cluster.reservations.set(name, {
    name,
    startsAt,
    endsAt:
      (body.end_time?.number ?? 0) * 1000 ||
      (body.duration?.number === undefined
        ? (before?.endsAt ?? startsAt)
        : startsAt + body.duration.number * 60_000),
    nodes: lists?.flatMap((list) => expandHostlist(list)) ?? before?.nodes ?? [],
    users: [...(body.users ?? before?.users ?? [])],
    flags: [...(body.flags ?? before?.flags ?? [])],
  });
  return good({ reservation_name: name });
}

export function deleteReservation(request: Request): Reply {
  request.requireOperator();
  if (!request.cluster.reservations.delete(request.parameter))
    throw new SlurmRefusal(2053, 'Requested reservation is invalid');
  return good();
}
