/** Nodes of the simulated slurmrestd. */
import { expandHostlist } from '../../src/meaning/hostlist.ts';
import { bad, good, type Reply } from './reply.ts';
import { type Request, SlurmRefusal } from './request.ts';
import type { SimulatedNode } from './simulated-objects.ts';
import { number } from './wire-format.ts';

export function listNodes(request: Request): Reply {
  const { cluster, format, query, version, latency } = request;
  // Before the time is compared: also a list that is answered "unchanged" makes a later GET of one node current.
  cluster.refreshForList();
  const since = query.get('update_time');
  if (since !== null && version === 'v0.0.41')
    return bad(500, 9202, 'Unable to convert Data type', `Parsing of ${since} for timestamp failed`);
  if (since !== null) {
    // Slurm allows for changes in the second of the last answer.
    const unchanged = Number(since) - 1 >= cluster.changedAt('nodes');
    if (unchanged) return { status: 304 };
    // 24.11 asks for partitions with the same time, and does not understand "unchanged" for an answer.
    if (cluster.release === '24.11' && Number(since) - 1 >= cluster.changedAt('partitions'))
      return bad(500, -1, 'Unspecified error', 'Unable to query partitions');
  }
  const elements = [...cluster.nodes.values()].map((node) => format.nodeText(cluster, node));
  return {
    status: 200,
    list: { key: 'nodes', elements },
    fields: { last_update: number(Math.floor(cluster.now() / 1000)) },
    takesMs: elements.length * latency.perListedNode,
  };
}

/** Answered from the numbers of the last list: work that began or ended since does not show. */
export function getNode({ cluster, format, parameter }: Request): Reply {
  const node = cluster.nodes.get(parameter);
  // Nothing found is a 200 with an error of number 0; a hostlist is never found.
  if (node === undefined) return bad(200, 0, 'No error', `Failure to query node ${parameter}`);
  return good({ nodes: [format.node(cluster, node)], last_update: number(Math.floor(cluster.now() / 1000)) });
}

export function updateNode(request: Request): Reply {
  return updateNodes(request, [request.parameter]);
}

export function updateManyNodes(request: Request): Reply {
  const { name } = request.body;
  const lists = Array.isArray(name) ? (name as string[]) : typeof name === 'string' ? [name] : [];
  return updateNodes(
    request,
    lists.flatMap((list) => expandHostlist(list)),
  );
}

const fields = new Set([
  'name',
  'state',
  'reason',
  'comment',
  'extra',
  'features',
  'features_act',
  'gres',
  'topology_str',
  'weight',
  'resume_after',
  'cpu_bind',
  'address',
  'hostname',
  'reason_uid',
]);
const states = new Set([
  'DRAIN',
  'UNDRAIN',
  'DOWN',
  'RESUME',
  'IDLE',
  'FAIL',
  'POWER_UP',
  'POWER_DOWN',
  'POWER_DOWN_ASAP',
]);

/** In order, stopping at the first node that cannot be changed: what came before it stays changed. */
function updateNodes(request: Request, names: readonly string[]): Reply {
  const { body, cluster } = request;
  const ignored = Object.keys(body)
    .filter((key) => !fields.has(key))
    .map((key) => `Ignoring unknown field "${key}" of type 64 bit integer in DATA_PARSER_UPDATE_NODE_MSG`);
  if (typeof body['address'] === 'string')
    ignored.push(
      'Expected OpenAPI type=array (Slurm type=list) but got OpenAPI type=string (Slurm type=string)',
    );
  const wanted = typeof body['state'] === 'string' ? [body['state']] : ((body['state'] ?? []) as string[]);
  for (const state of wanted) {
    if (state.startsWith('REBOOT_')) throw transition(request);
    if (!states.has(state))
      return bad(500, 9207, 'Data parser unable to parse invalid flag', `Unknown flag "${state}"`);
  }
  if (Object.keys(body).length === 0) return good();
  request.requireOperator();
  for (const name of names) {
    const node = cluster.node(name);
    cluster.touch(node); // also when it is refused half-way
    writeFields(request, node);
    for (const state of wanted) changeState(request, node, state);
  }
  return good({}, ignored);
}

/** Comment and extra are written before features are looked at: a refusal leaves them written. */
function writeFields(request: Request, node: SimulatedNode): void {
  const { body, user } = request;
  const text = (key: string) => (typeof body[key] === 'string' ? body[key] : undefined);
  node.comment = text('comment') ?? node.comment;
  node.extra = text('extra') ?? node.extra;
  node.topology = text('topology_str') ?? node.topology;
  node.gres = text('gres') ?? node.gres;
  const reason = text('reason');
  if (reason !== undefined)
    Object.assign(node, { reason, reasonSetBy: user, reasonSetAt: request.cluster.now() });
  const features = body['features'] as string[] | string | undefined;
  if (features === undefined) return;
  const list = Array.isArray(features) ? features : features.split(',');
  if (node.features.some((active) => !list.includes(active)))
    throw new SlurmRefusal(2031, 'Invalid feature specification');
  node.features = list;
}

function changeState(request: Request, node: SimulatedNode, state: string): void {
  const { cluster, body, user } = request;
  switch (state) {
    case 'DRAIN':
      node.flags.add('DRAIN');
      break;
    case 'UNDRAIN':
      if (!node.flags.delete('DRAIN')) break;
      clearReason(node);
      cluster.wake(node);
      break;
    case 'DOWN':
      cluster.setDown(node, typeof body['reason'] === 'string' ? body['reason'] : node.reason, user);
      break;
    case 'RESUME':
      if (!node.down && !node.flags.has('DRAIN')) throw transition(request);
      node.down = false;
      node.flags.delete('DRAIN');
      clearReason(node);
      cluster.wake(node);
      break;
    default:
      node.flags.add(state);
  }
}

function clearReason(node: SimulatedNode): void {
  Object.assign(node, { reason: '', reasonSetBy: '', reasonSetAt: 0 });
}

function transition({ cluster }: Request): SlurmRefusal {
  return cluster.release === '26.05'
    ? new SlurmRefusal(2180, 'Invalid node state transition')
    : new SlurmRefusal(2028, 'Invalid node state specified');
}

export function deleteNode(request: Request): Reply {
  const { cluster, parameter } = request;
  request.requireOperator();
  const node = cluster.node(parameter);
  if (cluster.hasWork(node.name)) throw new SlurmRefusal(2016, 'Requested nodes are busy');
  cluster.removeNode(node.name);
  return good();
}

export function createNode(request: Request): Reply {
  request.requireOperator();
  const words = ((request.body['node_conf'] ?? '') as string).split(/\s+/);
  const value = (key: string) => words.find((word) => word.startsWith(`${key}=`))?.slice(key.length + 1);
  const feature = value('Feature');
  for (const name of expandHostlist(value('NodeName') ?? '')) {
    request.cluster.addNode(name, {
      cpus: Number(value('CPUs') ?? 1),
      memory: Number(value('RealMemory') ?? 1),
      features: feature === undefined ? [] : feature.split(','),
    });
    const node = request.cluster.node(name);
    node.flags.delete('DYNAMIC_NORM');
    for (const flag of ['CLOUD', 'POWERED_DOWN']) node.flags.add(flag);
  }
  return good();
}
