/** Which NodeSets wait for Slurm to change, and at which connection: it is polled fast for as long as one does. */
import type { Waiting } from '@slurm-operator/slurm';
import type { SlurmGateway } from '../../../slurm-connection/slurm-gateway.ts';

export class PollingInterest {
  readonly #gateways = new Map<string, SlurmGateway>();

  /** A connection that was used before is released: the NodeSet may belong to another Controller now. */
  set(key: string, gateway: SlurmGateway | undefined, waiting: Waiting): void {
    const before = this.#gateways.get(key);
    if (before !== gateway || waiting === false) before?.expectChanges(who(key), false);
    if (gateway === undefined || waiting === false) this.#gateways.delete(key);
    else {
      this.#gateways.set(key, gateway);
      gateway.expectChanges(who(key), waiting);
    }
  }

  forget(key: string): void {
    this.set(key, undefined, false);
  }
}

const who = (key: string): string => `nodeset ${key}`;
