/** Keeps the Service rules of every machine of the cluster current: one look at the caches, one script per machine. */
import type { Manager } from '@slurm-operator/kube';
import { explain } from '../errors.ts';
import type { Machine } from '../machine/machine.ts';
import type { Toolbox } from '../machine/toolbox.ts';
import { endpointSlices, services } from '../objects/objects.ts';
import { renderRules } from './nftables.ts';

export interface ProxyMachine {
  readonly machine: Machine;
  /** Redirections of this machine's own. */
  readonly redirects: readonly { readonly from: string; readonly port: number; readonly to: string }[];
}

/** Changes come in bursts; one script covers all of a burst. */
const settleMs = 30;

export class ServiceProxy {
  readonly #manager: Manager;
  readonly #tools: Toolbox;
  readonly #podRange: string;
  readonly #machines = new Map<string, ProxyMachine>();
  readonly #applied = new Map<string, string>();
  #nodeAddresses: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(manager: Manager, tools: Toolbox, podRange: string) {
    this.#manager = manager;
    this.#tools = tools;
    this.#podRange = podRange;
    manager.cache.informer(services).subscribe(() => this.#later());
    manager.cache.informer(endpointSlices).subscribe(() => this.#later());
  }

  setNodeAddresses(addresses: readonly string[]): void {
    this.#nodeAddresses = addresses;
    this.#later();
  }

  /** Resolves when the machine has its first rules. */
  async add(name: string, machine: ProxyMachine): Promise<void> {
    this.#machines.set(name, machine);
    this.#applied.delete(name);
    await this.sync();
  }

  remove(name: string): void {
    this.#machines.delete(name);
    this.#applied.delete(name);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Writes what is not yet written; one at a time. */
  sync(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  #later(): void {
    if (this.#closed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.sync();
    }, settleMs);
  }

  async #write(): Promise<void> {
    if (this.#closed) return;
    const { cache, log } = this.#manager;
    const all = cache.list(services).toSorted((a, b) => (a.metadata.uid < b.metadata.uid ? -1 : 1));
    const slices = Map.groupBy(
      cache.list(endpointSlices),
      (slice) =>
        `${slice.metadata.namespace ?? ''}/${slice.metadata.labels?.['kubernetes.io/service-name'] ?? ''}`,
    );
    await Promise.all(
      [...this.#machines].map(async ([name, { machine, redirects }]) => {
        const script = renderRules({
          table: 'services',
          services: all,
          slicesOf: (service) =>
            slices.get(`${service.metadata.namespace ?? ''}/${service.metadata.name}`) ?? [],
          nodeAddresses: this.#nodeAddresses,
          podRange: this.#podRange,
          redirects,
        });
        if (this.#applied.get(name) === script) return;
        try {
          await machine.run([this.#tools.nft, '-f', '-'], { input: script, env: this.#tools.env });
          this.#applied.set(name, script);
        } catch (error) {
          // A machine that just lost power, or a Service the rules cannot express: the next change tries again.
          log.warn({ machine: name, reason: explain(error) }, 'service rules were not written');
        }
      }),
    );
  }
}
