/** The suite on a server that is not ours: only in namespaces that we make and remove, and only what was allowed. */
import { type Backend, Caller } from './backend.ts';
import { type RecordedCase, topicOf } from './case.ts';
import { isDisruptive } from './disruption.ts';
import { namespacesOf, prepareNamespaces } from './namespaces.ts';
import { replay } from './replay.ts';
import { tierOf } from './tiers.ts';
import { WebhookStandIn } from './webhook-stand-in.ts';

export type Outcome =
  | { readonly result: 'passed' }
  | { readonly result: 'failed' | 'not run'; readonly why: string };

export class ClusterRun {
  readonly #caller: Caller;
  readonly #webhooks: WebhookStandIn;
  readonly #allowDisruptive: boolean;
  readonly #made = new Set<string>();

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
    for (const name of wanted) {
      const { status } = await this.#caller.call({ method: 'GET', path: `/api/v1/namespaces/${name}` });
      if (status === 200)
        return {
          result: 'not run',
          why: `there is a namespace ${name} already, which is not ours to write to`,
        };
      this.#made.add(name);
    }
    await prepareNamespaces(this.#caller, topicOf(recorded), [recorded]);
    const why = await replay(recorded, { caller: this.#caller, webhooks: this.#webhooks, patience: 120_000 });
    return why === undefined ? { result: 'passed' } : { result: 'failed', why };
  }

  /** Removes every namespace that the run made. */
  async stop(): Promise<void> {
    for (const name of this.#made)
      await this.#caller.call({ method: 'DELETE', path: `/api/v1/namespaces/${name}` });
    this.#caller.close();
    await this.#webhooks.stop();
  }
}
