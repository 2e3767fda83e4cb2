/**
 * The wires of a cluster. A gateway machine holds the bridge that the nodes are plugged into and one link to the host;
 * the host keeps a single interface and a single route, and none of its firewall rules are touched.
 */
import { LocalClusterError } from '../errors.ts';
import { Machine } from '../machine/machine.ts';
import { run } from '../machine/run.ts';
import type { Toolbox } from '../machine/toolbox.ts';
import type { AddressPlan } from './addresses.ts';

/** The bridge's name inside the gateway's network namespace. */
const bridge = 'nodes';

export class ClusterNetwork {
  readonly plan: AddressPlan;
  readonly gateway: Machine;
  readonly hostLink: string;
  readonly #tools: Toolbox;

  private constructor(plan: AddressPlan, gateway: Machine, tools: Toolbox) {
    this.plan = plan;
    this.gateway = gateway;
    this.hostLink = linkName(plan);
    this.#tools = tools;
  }

  static async create(plan: AddressPlan, tools: Toolbox): Promise<ClusterNetwork> {
    const gateway = await Machine.start('gateway', tools);
    const network = new ClusterNetwork(plan, gateway, tools);
    try {
      const ip = (input: string) => run(['ip', '-batch', '-'], { input, env: tools.env });
      await network.#layHostLink();
      await ip(
        [`addr add ${plan.host}/30 dev ${network.hostLink}`, `link set ${network.hostLink} up`].join('\n'),
      );
      await network.#inGateway([
        `addr add ${plan.gateway}/30 dev host`,
        'link set host up',
        `route add default via ${plan.host}`,
        `link add ${bridge} type bridge`,
        `addr add ${plan.nodeGateway}/24 dev ${bridge}`,
        `link set ${bridge} up`,
      ]);
      await ip(`route add ${plan.clusterRange} via ${plan.gateway}`);
      return network;
    } catch (error) {
      await gateway.cutPower();
      throw error;
    }
  }

  /** Names of links are unique: the cluster that has the host's end of the link owns the block of addresses. */
  async #layHostLink(): Promise<void> {
    const { code, stderr } = await run(
      [
        'ip',
        'link',
        'add',
        this.hostLink,
        'type',
        'veth',
        'peer',
        'name',
        'host',
        'netns',
        `${this.gateway.pid}`,
      ],
      { env: this.#tools.env, allowFailure: true },
    );
    if (code === 0) return;
    if (/File exists/.test(stderr))
      throw new LocalClusterError('NetworkTaken', `network ${this.plan.clusterRange} was taken meanwhile.`);
    throw new LocalClusterError('StartFailed', `cannot link the cluster to the host: ${stderr.trim()}.`);
  }

  /** Plugs a node in: its link, its address, and the way to its pods for everyone else. */
  async connect(
    index: number,
    node: Machine,
    others: readonly { index: number; machine: Machine }[],
  ): Promise<void> {
    const port = `n${index}`;
    const route = (to: number) => `route replace ${this.plan.podCidr(to)} via ${this.plan.nodeAddress(to)}`;
    await run(['ip', '-batch', '-'], {
      input: `link add lc${this.plan.block}n${index} netns ${this.gateway.pid} type veth peer name eth0 netns ${node.pid}\n`,
      env: this.#tools.env,
    });
    await this.#inGateway([
      `link set lc${this.plan.block}n${index} name ${port}`,
      `link set ${port} master ${bridge}`,
      `link set ${port} up`,
      route(index),
    ]);
    await this.plugIn(
      index,
      node,
      others.map((other) => other.index),
    );
    await Promise.all(others.map(({ machine }) => this.#inMachine(machine, [route(index)])));
  }

  /** Link up, with the address and the routes that a link loses when it goes down. */
  async plugIn(index: number, node: Machine, others: readonly number[]): Promise<void> {
    await this.#inMachine(node, [
      `addr replace ${this.plan.nodeAddress(index)}/24 dev eth0`,
      'link set eth0 up',
      `route replace default via ${this.plan.nodeGateway}`,
      ...others
        .filter((other) => other !== index)
        .map((other) => `route replace ${this.plan.podCidr(other)} via ${this.plan.nodeAddress(other)}`),
    ]);
  }

  /** The cable is out: nothing goes in or out, everything on the node goes on. */
  async pullOut(node: Machine): Promise<void> {
    await this.#inMachine(node, ['link set eth0 down']);
  }

  async destroy(): Promise<void> {
    await this.gateway.cutPower();
    await run(['ip', 'link', 'del', this.hostLink], { env: this.#tools.env, allowFailure: true });
  }

  #inGateway(lines: readonly string[]) {
    return this.#inMachine(this.gateway, lines);
  }

  #inMachine(machine: Machine, lines: readonly string[]) {
    return machine.run(['ip', '-batch', '-'], { input: `${lines.join('\n')}\n`, env: this.#tools.env });
  }
}

export const linkName = (plan: AddressPlan): string => `lcluster${plan.block}`;

/** Finds a /16 of 10.0.0.0/8 that nothing on this machine uses. */
const first = 130;
const last = 200;

/** `taken` are blocks that another cluster, which starts at this moment, was quicker to get. */
export async function freeBlock(tools: Toolbox, taken: ReadonlySet<number> = new Set()): Promise<number> {
  const { stdout } = await run(['ip', '-4', 'route', 'show', 'table', 'all'], { env: tools.env });
  const block = chooseBlock(stdout, taken);
  if (block === undefined)
    throw new LocalClusterError(
      'StartFailed',
      `no network between 10.${first}.0.0/16 and 10.${last}.0.0/16 is free: stop another cluster first (\`localcluster status\` lists them).`,
    );
  return block;
}

/** The first block that no route mentions. */
export function chooseBlock(routes: string, taken: ReadonlySet<number>): number | undefined {
  for (let block = first; block <= last; block++)
    if (!taken.has(block) && !new RegExp(String.raw`(^|\s)10\.${block}\.`, 'm').test(routes)) return block;
  return undefined;
}
