/** How long an operator lives: a number of writes, after which it is as dead as a killed process, whatever it still tries. */
import { type Manager, OwnedApplier } from '@slurm-operator/kube';
import type { SlurmGateway } from '../src/slurm-connection/slurm-gateway.ts';

const slurmWrites = new Set<PropertyKey>([
  'updateNode',
  'createNodes',
  'deleteNode',
  'updateJob',
  'writeReservation',
  'deleteReservation',
]);

export class Life {
  readonly #allowed: number;
  readonly #writes: string[] = [];
  #tried = 0;

  constructor(writes = Number.POSITIVE_INFINITY) {
    this.#allowed = writes;
  }

  /** Writes that were made: to Slurm in words, to Kubernetes as `kubernetes`. */
  get writes(): readonly string[] {
    return this.#writes;
  }

  /** It has tried to write after its last. */
  get over(): boolean {
    return this.#tried > this.#allowed;
  }

  readonly #spend = (what: string) => {
    this.#tried += 1;
    if (this.#tried > this.#allowed) throw new Error('this operator is dead');
    this.#writes.push(what);
  };

  /** The same manager with a client that fails. Events are not counted: nothing depends on them. */
  manager(manager: Manager): Manager {
    const client = manager.client.guarded(() => this.#spend('kubernetes'));
    const owned = new OwnedApplier(client, manager.cache);
    return new Proxy(manager, {
      get(target, name) {
        if (name === 'client') return client;
        if (name === 'owned') return owned;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }

  gateway(gateway: SlurmGateway): SlurmGateway {
    const spend = this.#spend;
    return new Proxy(gateway, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        const method = value.bind(target) as (...args: unknown[]) => unknown;
        if (!slurmWrites.has(name)) return method;
        return async (...args: unknown[]) => {
          spend(`slurm ${String(name)} ${JSON.stringify(args.slice(0, -1))}`);
          return method(...args);
        };
      },
    });
  }
}
