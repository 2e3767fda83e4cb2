/**
 * Lets a drain of the only usable node finish. The disruption budget keeps one replica until another one is ready elsewhere; where
 * there is no elsewhere, that would be forever. A replica whose node is cordoned while no other node takes pods reports that it is
 * not ready, and such a replica may always be evicted (`unhealthyPodEvictionPolicy: AlwaysAllow`). It works on until then.
 */
import {
  type Client,
  type Clock,
  type DeepReadonly,
  explain,
  type Log,
  type Node,
  nodes,
  sleep,
} from '@slurm-operator/kube';

const period = 10_000;
const pageSize = 100;

/** Whether a node takes pods that tolerate nothing in particular. Pure. */
export function takesPods({ spec, status }: DeepReadonly<Node>): boolean {
  return (
    spec?.unschedulable !== true &&
    (spec?.taints ?? []).every(({ effect }) => effect === 'PreferNoSchedule') &&
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  );
}

export class StepAside {
  readonly name = 'drain watch';
  readonly #client: Client;
  readonly #node: string;
  readonly #clock: Clock;
  readonly #log: Log;
  #why: string | undefined;

  /** The client must not be guarded by leadership: every replica asks. */
  constructor(client: Client, node: string, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#client = client;
    this.#node = node;
    this.#clock = clock;
    this.#log = log;
  }

  readonly check = (): string | undefined => this.#why;

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.look(signal);
      } catch (error) {
        // Unknown: it stays as it was.
        if (!signal.aborted) this.#log.warn({ reason: explain(error) }, 'cannot read the node of this pod');
      }
      await sleep(period * (0.9 + 0.2 * this.#clock.random()), signal, this.#clock).catch(() => undefined);
    }
  }

  async look(signal: AbortSignal): Promise<void> {
    const aside = (await this.#isCordoned(signal)) && !(await this.#anyOther(signal));
    this.#why = aside
      ? `node ${this.#node} is cordoned and no other node takes pods: this replica may be evicted`
      : undefined;
  }

  async #isCordoned(signal: AbortSignal): Promise<boolean> {
    const fieldSelector = `metadata.name=${this.#node}`;
    const { items } = await this.#client.list(nodes, { fieldSelector, signal });
    return items[0]?.spec?.unschedulable === true;
  }

  async #anyOther(signal: AbortSignal): Promise<boolean> {
    for await (const { items } of this.#client.pages(nodes, { pageSize, signal }))
      if (items.some(takesPods)) return true;
    return false;
  }
}
