/** Writes the CA bundle of our webhooks into webhook configurations and CRDs. */
import type { Client } from '../client/client.ts';
import type { JsonPatch } from '../client/options.ts';
import type { Live } from '../objects/object.ts';
import type { AnyResource } from '../objects/resource.ts';
import {
  customResourceDefinitions,
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
} from '../objects/resources.ts';

export interface InjectionTarget {
  /** `conversion`: a CustomResourceDefinition whose conversion webhook is ours. */
  readonly kind: 'validating' | 'mutating' | 'conversion';
  readonly name: string;
}

interface ClientConfig {
  readonly caBundle?: string;
}

/**
 * Writes the bundle where it differs; a target that does not exist is skipped. `isCurrent` is called between the read and the write of
 * the target: if it returns false, nothing is written. Together with the resourceVersion of the target this prevents a replica with an
 * outdated bundle from overwriting a newer one. Returns whether the target has the bundle.
 */
export async function injectBundle(
  client: Client,
  target: InjectionTarget,
  caCert: string,
  {
    isCurrent,
    signal,
  }: { readonly isCurrent: () => Promise<boolean>; readonly signal?: AbortSignal | undefined },
): Promise<boolean> {
  const resource: AnyResource =
    target.kind === 'validating'
      ? validatingWebhookConfigurations
      : target.kind === 'mutating'
        ? mutatingWebhookConfigurations
        : customResourceDefinitions;
  const live: Live | undefined = await client.find(resource, { name: target.name }, { signal });
  if (live === undefined) return true;
  const desired = Buffer.from(caCert).toString('base64');
  const places = clientConfigs(live);
  const changes = places
    .filter(({ config }) => config.caBundle !== desired)
    .map(({ path }) => ({ op: 'add' as const, path: `${path}/caBundle`, value: desired }));
  if (changes.length === 0) return true;
  if (!(await isCurrent())) return false;
  const { resourceVersion } = live.metadata;
  const body: JsonPatch = [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    ...changes,
  ];
  await client.patch(resource, { name: target.name }, { type: 'json', body }, { signal });
  return true;
}

function clientConfigs(live: object): { path: string; config: ClientConfig }[] {
  const { webhooks, spec } = live as {
    webhooks?: { clientConfig: ClientConfig }[];
    spec?: { conversion?: { webhook?: { clientConfig?: ClientConfig } } };
  };
  const conversion = spec?.conversion?.webhook?.clientConfig;
  if (conversion !== undefined)
    return [{ path: '/spec/conversion/webhook/clientConfig', config: conversion }];
  return (webhooks ?? []).map(({ clientConfig }, at) => ({
    path: `/webhooks/${at}/clientConfig`,
    config: clientConfig,
  }));
}
