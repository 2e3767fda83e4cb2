/** The suite on a server that is not ours: only in what we make and remove again, and only what was allowed. */
import { type Backend, Caller } from './backend.ts';
import { needs, type RecordedCase, topicOf } from './case.ts';
import { isDisruptive } from './disruption.ts';
import { leftovers } from './leftovers.ts';
import { namespacesOf, prepareNamespaces } from './namespaces.ts';
import { replay } from './replay.ts';
import { tierOf } from './tiers.ts';
import { WebhookStandIn } from './webhook-stand-in.ts';

export type Outcome =
  | { readonly result: 'passed' }
  | { readonly result: 'failed' | 'known difference' | 'not run'; readonly why: string };

/** Cases that others build on: what they made is needed until the end. */
const foundations = new Set(Object.values(needs).flat());

/** How long an object may take to be gone; a custom kind takes its instances along. */
const removalDeadline = 60_000;

export class ClusterRun {
  readonly #caller: Caller;
  readonly #webhooks: WebhookStandIn;
  readonly #allowDisruptive: boolean;
  readonly #made = new Set<string>();
  /** Paths of objects outside of namespaces that are still there because of us. */
  readonly #kept: string[] = [];

  private constructor(caller: Caller, webhooks: WebhookStandIn, allowDisruptive: boolean) {
    this.#caller = caller;
    this.#webhooks = webhooks;
    this.#allowDisruptive = allowDisruptive;
  }

  static async start(backend: Backend, allowDisruptive: boolean): Promise<ClusterRun> {
    return new ClusterRun(new Caller(backend), await WebhookStandIn.start(), allowDisruptive);
  }

  /** Cases of a topic share a namespace and build on each other, so they must come in order. */
  async replay(recorded: RecordedCase): Promise<Outcome> {
    const { controllers, url } = this.#caller.backend;
    if (tierOf(recorded) !== 'api' && !controllers)
      return { result: 'not run', why: 'no controllers run there' };
    if (topicOf(recorded) === 'admission' && !/^https:\/\/(?:127\.0\.0\.1|localhost)\b/.test(url))
      return { result: 'not run', why: 'the server cannot reach a webhook on this machine' };
    if (isDisruptive(recorded) && !this.#allowDisruptive)
      return { result: 'not run', why: 'writes outside its namespaces; --allow-disruptive allows it' };
    const wanted = namespacesOf(topicOf(recorded), [recorded]).filter((name) => !this.#made.has(name));
    const making = leftovers(recorded).filter((path) => !this.#kept.includes(path));
    for (const path of [...wanted.map((name) => `/api/v1/namespaces/${name}`), ...making])
      if (await this.#exists(path))
        return { result: 'not run', why: `there is ${path} already, which is not ours to write to` };
    for (const name of wanted) this.#made.add(name);
    await prepareNamespaces(this.#caller, topicOf(recorded), [recorded]);
    this.#kept.push(...making);
    const why = await replay(recorded, { caller: this.#caller, webhooks: this.#webhooks, patience: 120_000 });
    // At once: the next case makes some of them anew, and a webhook would go on to judge what others write.
    if (!foundations.has(recorded.name)) await this.#remove(making);
    return why === undefined ? { result: 'passed' } : { result: 'failed', why };
  }

  /** Removes everything that the run made. */
  async stop(): Promise<void> {
    await this.#remove([...this.#kept]);
    for (const name of this.#made)
      await this.#caller.call({ method: 'DELETE', path: `/api/v1/namespaces/${name}` });
    this.#caller.close();
    await this.#webhooks.stop();
  }

  async #exists(path: string): Promise<boolean> {
    return (await this.#caller.call({ method: 'GET', path })).status === 200;
  }

  /** The last one first, and only done when they are gone. */
  async #remove(paths: readonly string[]): Promise<void> {
    for (const path of paths.toReversed()) {
      await this.#caller.call({ method: 'DELETE', path });
      const deadline = performance.now() + removalDeadline;
      // A namespace takes its time and is in nobody's way.
      while (!path.startsWith('/api/v1/namespaces/') && (await this.#exists(path))) {
        if (performance.now() > deadline)
          throw new Error(`${path}, which this run made, is still there: remove it by hand`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      this.#kept.splice(this.#kept.indexOf(path), 1);
    }
  }
}
