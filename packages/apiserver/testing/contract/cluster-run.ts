/**
 * The suite on one server that all cases share, which may be lent to us: each case in namespaces of its own, in any order,
 * only in what it makes and removes again, and only what was allowed.
 */
import { randomBytes } from 'node:crypto';
import { type Backend, Caller } from './backend.ts';
import { needs, type RecordedCase, recordedCases, topicOf } from './case.ts';
import { eventually } from './eventually.ts';
import { leftovers } from './leftovers.ts';
import { Markers } from './markers.ts';
import { NamespaceNames } from './namespace-names.ts';
import { namespacesOf, prepareNamespaces } from './namespaces.ts';
import { hasOldEtcd } from './readiness.ts';
import { at } from './reductions.ts';
import { removeNamespace, removeObject } from './removal.ts';
import { replay } from './replay.ts';
import { WebhookStandIn } from './webhook-stand-in.ts';
import { notRunReason } from './where-it-holds.ts';

export type Outcome =
  | { readonly result: 'passed' }
  | { readonly result: 'failed' | 'known difference' | 'not run'; readonly why: string };

/** What the embedded server refuses by name is a known difference of it, and says nothing about the case. */
const unservedByEmbedded = /status 501, .*the embedded API server does not support/;

/** How long a server may take for what it or its controllers do beside the requests. */
const patience = 120_000;

export class ClusterRun {
  readonly #caller: Caller;
  readonly #webhooks: WebhookStandIn;
  readonly #markers: Markers;
  readonly #allowDisruptive: boolean;
  readonly #id: string;
  readonly #namespaces: string[] = [];
  #count = 0;

  private constructor(
    caller: Caller,
    webhooks: WebhookStandIn,
    markers: Markers,
    options: { readonly allowDisruptive: boolean; readonly id: string },
  ) {
    this.#caller = caller;
    this.#webhooks = webhooks;
    this.#markers = markers;
    this.#allowDisruptive = options.allowDisruptive;
    this.#id = options.id;
  }

  static async start(backend: Backend, allowDisruptive: boolean): Promise<ClusterRun> {
    const caller = new Caller(backend);
    const kubelets = backend.kubelets ?? (backend.controllers && (await hasReadyNodes(caller)));
    const known = new Caller({ ...backend, kubelets, oldEtcd: await hasOldEtcd(caller) });
    caller.close();
    const id = randomBytes(3).toString('hex');
    const markers = await Markers.start(known, id);
    return new ClusterRun(known, await WebhookStandIn.start(), markers, { allowDisruptive, id });
  }

  async replay(recorded: RecordedCase): Promise<Outcome> {
    const { backend } = this.#caller;
    const cases = [...(needs[recorded.name] ?? []).flatMap((name) => recordedCases(name)), recorded];
    for (const one of cases.toReversed()) {
      const reason = notRunReason(one, backend, this.#allowDisruptive);
      if (reason !== undefined)
        return { result: 'not run', why: one === recorded ? reason : `${reason} (${one.name})` };
    }
    const topic = topicOf(recorded);
    const names = new NamespaceNames(namespacesOf(topic, cases), `${this.#id}-${++this.#count}`);
    const making = [...new Set(cases.flatMap(leftovers))];
    for (const path of making)
      if (await this.#exists(path))
        return { result: 'not run', why: `there is ${path} already, which is not ours to write to` };
    const caller = new Caller(backend, names);
    this.#webhooks.forget();
    try {
      await prepareNamespaces(caller, topic, cases);
      for (const one of cases) {
        const why = await replay(one, { caller, webhooks: this.#webhooks, markers: this.#markers, patience });
        if (backend.embedded === undefined && why !== undefined && unservedByEmbedded.test(why))
          return { result: 'not run', why: `the given cluster has the embedded API server: ${why}` };
        if (why !== undefined)
          return {
            result: 'failed',
            why: one === recorded ? why : `${one.name}, which it builds on: ${why}`,
          };
      }
      return { result: 'passed' };
    } finally {
      await this.#remove(making, cases, namespacesOf(topic, cases), caller);
      caller.close();
    }
  }

  /** Removes everything that the run made, and returns when it is gone. */
  async stop(): Promise<void> {
    try {
      await this.#markers.stop();
      if (this.#caller.backend.controllers) await this.#untilNamespacesAreGone();
    } finally {
      this.#caller.close();
      await this.#webhooks.stop();
    }
  }

  async #untilNamespacesAreGone(): Promise<void> {
    let left = this.#namespaces;
    try {
      await eventually(
        'the namespaces of this run are gone',
        async () => {
          const found = await Promise.all(left.map((name) => this.#exists(`/api/v1/namespaces/${name}`)));
          left = left.filter((_name, index) => found[index]);
          return left.length === 0;
        },
        { deadline: patience },
      );
    } catch (cause) {
      throw new Error(`this run created namespaces that are not gone: ${left.join(', ')}; remove them`, {
        cause,
      });
    }
  }

  async #exists(path: string): Promise<boolean> {
    return (await this.#caller.call({ method: 'GET', path })).status === 200;
  }

  /** The last one first: a definition takes its instances along, a webhook is no longer asked about what is removed. */
  async #remove(
    making: readonly string[],
    cases: readonly RecordedCase[],
    namespaces: readonly string[],
    caller: Caller,
  ): Promise<void> {
    for (const path of making.toReversed()) await removeObject(this.#caller, path, patience);
    const collections = new Set(making.map((path) => path.slice(0, path.lastIndexOf('/'))));
    for (const collection of collections)
      if (!collection.endsWith('/namespaces')) await this.#markers.settle(collection);
    for (const name of namespaces) {
      await removeNamespace(caller, name, cases);
      this.#namespaces.push(caller.names.real(name));
    }
  }
}

/** A node that is Ready has a kubelet, and where pods can run there is a scheduler. */
async function hasReadyNodes(caller: Caller): Promise<boolean> {
  const { text } = await caller.call({ method: 'GET', path: '/api/v1/nodes' });
  const items = at(JSON.parse(text), 'items');
  const isReady = (one: unknown) => at(one, 'type') === 'Ready' && at(one, 'status') === 'True';
  return (
    Array.isArray(items) &&
    items.some((node) => {
      const conditions = at(node, 'status', 'conditions');
      return Array.isArray(conditions) && conditions.some(isReady);
    })
  );
}
