/** A fresh embedded server for one case, with what the recordings take for granted. */
import { createAuthority, type KeyPair } from '@slurm-operator/kubernetes-values';
import { startApiServer } from '../../src/server.ts';
import { Caller } from './backend.ts';
import { needs, type RecordedCase, recordedCases, topicOf } from './case.ts';
import { prepareNamespaces } from './namespaces.ts';
import { replay } from './replay.ts';
import { WebhookStandIn } from './webhook-stand-in.ts';

export class EmbeddedRun {
  readonly #authority: KeyPair;
  readonly #webhooks: WebhookStandIn;

  private constructor(authority: KeyPair, webhooks: WebhookStandIn) {
    this.#authority = authority;
    this.#webhooks = webhooks;
  }

  static async start(): Promise<EmbeddedRun> {
    const [authority, webhooks] = await Promise.all([
      createAuthority({ name: 'contract-ca', now: Date.now() }),
      WebhookStandIn.start(),
    ]);
    return new EmbeddedRun(authority, webhooks);
  }

  /** The first difference of a case, or undefined. */
  async replay(
    recorded: RecordedCase,
    onDifference?: (difference: string) => void,
  ): Promise<string | undefined> {
    const server = await startApiServer({ authority: this.#authority });
    const caller = new Caller({
      name: 'embedded',
      url: server.url,
      caPem: server.caPem,
      certificatePem: server.admin.certificatePem,
      keyPem: server.admin.keyPem,
      embedded: server,
      controllers: false,
    });
    try {
      this.#webhooks.forget();
      const earlier = (needs[recorded.name] ?? []).flatMap((name) => recordedCases(name));
      await prepareNamespaces(caller, topicOf(recorded), [...earlier, recorded]);
      for (const one of earlier) {
        const found = await replay(one, { caller, webhooks: this.#webhooks });
        if (found !== undefined) return `${one.name}, on which this case builds: ${found}`;
      }
      return await replay(recorded, {
        caller,
        webhooks: this.#webhooks,
        ...(onDifference === undefined ? {} : { onDifference }),
      });
    } finally {
      caller.close();
      await server.stop();
    }
  }

  async stop(): Promise<void> {
    await this.#webhooks.stop();
  }
}
