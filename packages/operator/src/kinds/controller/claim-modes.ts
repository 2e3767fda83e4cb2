/** The access modes of claims that standbys share. They never change, so each claim is read about once. */
import type { Controller } from '@slurm-operator/api';
import { type Client, type DeepReadonly, persistentVolumeClaims } from '@slurm-operator/kube';

/** A claim may be deleted and created again, or not exist yet. */
const rememberFor = 60_000;

export class ClaimModes {
  readonly #client: Client;
  readonly #known = new Map<string, { readonly modes: readonly string[] | undefined; readonly at: number }>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Undefined where no claim is shared, or it does not exist. */
  async of(
    { metadata: { namespace }, spec }: DeepReadonly<Controller>,
    now: number,
    signal: AbortSignal,
  ): Promise<readonly string[] | undefined> {
    const claim = spec.persistence.existingClaim ?? '';
    if (spec.ha?.enabled !== true || claim === '') return undefined;
    for (const [key, { at }] of this.#known) if (Math.abs(now - at) > rememberFor) this.#known.delete(key);
    const key = `${namespace}/${claim}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known.modes;
    // A list, because the operator has no other need to read single claims.
    const fieldSelector = `metadata.name=${claim}`;
    const { items } = await this.#client.list(persistentVolumeClaims, { namespace, fieldSelector, signal });
    const modes = items[0] && (items[0].spec?.accessModes ?? []);
    this.#known.set(key, { modes, at: now });
    return modes;
  }
}
