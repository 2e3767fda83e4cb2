import { runCommand } from '../process/run-command.ts';
import type { HostPrograms } from './host-programs.ts';
import { allocateAddress, gateway, parseSubnet, type Subnet } from './subnet.ts';

/** Runs `ip` commands, one per line, in the network namespace of a process. */
export async function ipInside(
  programs: HostPrograms,
  pid: number,
  commands: readonly string[],
): Promise<void> {
  await runCommand([programs.nsenter, `--net=/proc/${pid}/ns/net`, programs.ip, '-batch', '-'], {
    input: `${commands.join('\n')}\n`,
    timeoutMs: 30_000,
  });
}

/** One end of a cable between a box and a bridge. */
export interface Port {
  readonly network: Network;
  readonly address: string;
  /** The name of the interface inside the box. */
  readonly interfaceName: string;
  setLink(state: 'up' | 'down'): Promise<void>;
  remove(): Promise<void>;
}

/**
 * A bridge in the sandbox's own network namespace, and the cables into it. Nothing of it appears in the network
 * namespace of the machine, and there is no way out of it.
 */
export class Network {
  readonly name: string;
  readonly subnet: Subnet;
  readonly #programs: HostPrograms;
  readonly #switchPid: number;
  /** Written on every interface, so that wherever one turns up it tells whose it is. */
  readonly #owner: string;
  readonly #bridge: string;
  readonly #taken = new Set<string>();
  #ports = 0;

  constructor(
    programs: HostPrograms,
    hub: { readonly pid: number; readonly sandbox: string },
    index: number,
    name: string,
    cidr: string,
  ) {
    this.name = name;
    this.subnet = parseSubnet(cidr);
    this.#programs = programs;
    this.#switchPid = hub.pid;
    this.#owner = `sandbox:${hub.sandbox}`;
    this.#bridge = `br${index}`;
  }

  /** The address of the bridge; the sandbox's forwards come from it. */
  get gateway(): string {
    return gateway(this.subnet);
  }

  async up(): Promise<void> {
    await ipInside(this.#programs, this.#switchPid, [
      `link add ${this.#bridge} type bridge`,
      `link set ${this.#bridge} alias ${this.#owner}`,
      `address add ${this.gateway}/${this.subnet.prefix} dev ${this.#bridge}`,
      `link set ${this.#bridge} up`,
    ]);
  }

  /** Lays a cable into the network namespace of `pid`. */
  async connect(pid: number, interfaceName: string, requested?: string): Promise<Port> {
    const address = allocateAddress(this.subnet, this.#taken, requested);
    this.#taken.add(address);
    const port = `${this.#bridge}p${this.#ports++}`;
    try {
      await ipInside(this.#programs, this.#switchPid, [
        `link add ${port} type veth peer name ${interfaceName} netns ${pid}`,
        `link set ${port} alias ${this.#owner}`,
        `link set ${port} master ${this.#bridge} up`,
      ]);
      await ipInside(this.#programs, pid, [
        `link set ${interfaceName} alias ${this.#owner}`,
        `address add ${address}/${this.subnet.prefix} dev ${interfaceName}`,
        `link set ${interfaceName} up`,
      ]);
    } catch (error) {
      this.#taken.delete(address);
      throw error;
    }
    return {
      network: this,
      address,
      interfaceName,
      setLink: (state) => ipInside(this.#programs, this.#switchPid, [`link set ${port} ${state}`]),
      remove: async () => {
        this.#taken.delete(address);
        await ipInside(this.#programs, this.#switchPid, [`link delete ${port}`]);
      },
    };
  }
}
