/** The wanted size of owners of custom kinds, asked for through their `scale` subresource and remembered for a moment. */
import { type AnyResource, type Client, type Clock, pathOf } from '@slurm-operator/kube';
import type { OwnerReference } from '../../objects/objects.ts';
import { servedResources } from '../served-resources.ts';

export interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/** The kind of an owner is not known (yet): what exists is asked for every half minute only, as the real controller does it. */
export class UnknownKindError extends Error {}

const rememberMs = 2000;
const rediscoverMs = 30_000;

export class CustomScales {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #known = new Map<string, { scale: Scale | undefined; at: number }>();
  #served: { resources: readonly AnyResource[]; at: number } | undefined;

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** What was found out last; undefined when the kind cannot be scaled. */
  get(uid: string): Scale | undefined {
    return this.#known.get(uid)?.scale;
  }

  /** Asks for the owners that are not known freshly enough. */
  async learn(
    owners: readonly OwnerReference[],
    namespace: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const now = this.#clock.monotonic();
    for (const [uid, { at }] of this.#known) if (now - at > rediscoverMs) this.#known.delete(uid);
    for (const owner of new Map(owners.map((entry) => [entry.uid, entry])).values()) {
      const known = this.#known.get(owner.uid);
      if (known !== undefined && now - known.at < rememberMs) continue;
      this.#known.set(owner.uid, { scale: await this.#ask(owner, namespace, signal), at: now });
    }
  }

  async #ask(
    owner: OwnerReference,
    namespace: string | undefined,
    signal: AbortSignal,
  ): Promise<Scale | undefined> {
    const resource = (await this.#resources(signal)).find(
      (entry) => entry.kind === owner.kind && groupOf(entry.apiVersion) === groupOf(owner.apiVersion),
    );
    if (resource === undefined)
      throw new UnknownKindError(
        `no matches for kind "${owner.kind}" in group "${groupOf(owner.apiVersion) ?? ''}"`,
      );
    const path = pathOf(resource, { namespace, name: owner.name, subresource: 'scale' });
    const answer = await this.#client
      .json<{ spec?: { replicas?: number } }>('GET', path, { signal, timeout: 5000 })
      .catch(() => undefined);
    return answer === undefined ? undefined : { uid: owner.uid, replicas: answer.spec?.replicas ?? 0 };
  }

  async #resources(signal: AbortSignal): Promise<readonly AnyResource[]> {
    const now = this.#clock.monotonic();
    if (this.#served === undefined || now - this.#served.at > rediscoverMs)
      this.#served = { resources: await servedResources(this.#client, signal), at: now };
    return this.#served.resources;
  }
}

const groupOf = (apiVersion: string) => (apiVersion.includes('/') ? apiVersion.split('/')[0] : '');
