/** Asks the webhooks of all configurations: mutating ones in turn, validating ones at once. */
import { forbidden, internalError } from '../../api/errors.ts';
import { stringifyExact } from '../../api/json.ts';
import type { KubeObject } from '../../api/types.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import { fromStorage, type ResourceDefinition, toStorage } from '../../resource/resource-definition.ts';
import { evaluate } from '../expression.ts';
import type { AdmissionAttributes } from '../plugin.ts';
import { applyWebhookPatch } from './apply-patch.ts';
import { callWebhook } from './call.ts';
import { type ClientConfig, resolveEndpoint } from './endpoint.ts';
import { isExempt, type Matching, matchedDefinition, namespaceMatches, objectMatches } from './match.ts';
import { admissionRequest, withIdentity, withoutIdentity } from './review.ts';
import { type ReviewResponse, readReviewResponse, refusalOf } from './review-response.ts';

const GROUP = 'admissionregistration.k8s.io';

interface Webhook extends Matching {
  readonly name: string;
  readonly clientConfig: ClientConfig;
  readonly failurePolicy?: string;
  readonly timeoutSeconds?: number;
  readonly reinvocationPolicy?: string;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

interface Invitation {
  readonly webhook: Webhook;
  readonly matched: ResourceDefinition;
}

/** Lets every mutating webhook change the object in turn; those that asked for it are called again after later changes. */
export async function runMutatingWebhooks(
  attributes: AdmissionAttributes,
  context: RequestContext,
): Promise<KubeObject | undefined> {
  let { object } = attributes;
  const changedAfter = new Map<Webhook, boolean>();
  const pass = async (webhooks: readonly Webhook[]) => {
    for (const webhook of webhooks) {
      const before = object;
      object = await mutateOnce(webhook, { ...attributes, object }, context);
      if (object !== before) for (const earlier of changedAfter.keys()) changedAfter.set(earlier, true);
      changedAfter.set(webhook, false);
    }
  };
  await pass(configured(context, 'mutating', attributes));
  const again = [...changedAfter].filter(
    ([webhook, stale]) => stale && webhook.reinvocationPolicy === 'IfNeeded',
  );
  await pass(again.map(([webhook]) => webhook));
  return object;
}

async function mutateOnce(
  webhook: Webhook,
  attributes: AdmissionAttributes,
  context: RequestContext,
): Promise<KubeObject | undefined> {
  const { object } = attributes;
  // The server has given a new object its identity already; webhooks see it without, as on a real server.
  const shown =
    object !== undefined && attributes.operation === 'CREATE'
      ? { ...attributes, object: withoutIdentity(object) }
      : attributes;
  const matched = invite(webhook, shown, context);
  if (matched === undefined) return object;
  const response = await ask(webhook, matched, shown, context, true);
  if (response?.patch === undefined || shown.object === undefined || object === undefined) return object;
  const sent = inVersion(shown.object, attributes.definition, matched);
  const patched = inVersion(
    applyWebhookPatch(structuredClone(sent), response.patch),
    matched,
    attributes.definition,
  );
  attributes.definition.hooks.default?.(patched);
  return withIdentity(patched, object);
}

function inVersion(object: KubeObject, from: ResourceDefinition, to: ResourceDefinition): KubeObject {
  return from === to ? object : fromStorage(to, toStorage(from, object));
}

export async function runValidatingWebhooks(
  attributes: AdmissionAttributes,
  context: RequestContext,
): Promise<void> {
  const invitations = configured(context, 'validating', attributes).flatMap((webhook): Invitation[] => {
    const matched = invite(webhook, attributes, context);
    return matched === undefined ? [] : [{ webhook, matched }];
  });
  const outcomes = await Promise.allSettled(
    invitations.map(({ webhook, matched }) => ask(webhook, matched, attributes, context, false)),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Configurations in the order of their names, each with its webhooks in the order it lists them. */
function configured(
  { parts }: RequestContext,
  type: 'mutating' | 'validating',
  { definition }: AdmissionAttributes,
): Webhook[] {
  if (isExempt(definition)) return [];
  return parts.store
    .list(`${GROUP}/${type}webhookconfigurations`)
    .flatMap((configuration) => (configuration['webhooks'] ?? []) as Webhook[]);
}

/** The version of the resource to show the webhook, or nothing when it does not want to hear of this request. */
function invite(
  webhook: Webhook,
  attributes: AdmissionAttributes,
  context: RequestContext,
): ResourceDefinition | undefined {
  const { definition, name } = attributes;
  const { registry, store } = context.parts;
  const equivalents = registry
    .all()
    .filter((other) => other !== definition && other.storage === definition.storage);
  const matched = matchedDefinition({ ...webhook, rules: webhook.rules ?? [] }, attributes, equivalents);
  if (matched === undefined) return undefined;
  if (!objectMatches(webhook.objectSelector, attributes)) return undefined;
  const namespaceOf = (namespace: string) => store.get('/namespaces', undefined, namespace);
  if (!namespaceMatches(webhook.namespaceSelector, attributes, namespaceOf)) return undefined;
  const conditions = webhook.matchConditions ?? [];
  if (conditions.length === 0) return matched;
  const request = admissionRequest(attributes, context, matched);
  const input = { object: request.object, oldObject: request.oldObject, request };
  const results = conditions.map(({ expression }) => ({ expression, result: evaluate(expression, input) }));
  if (results.some(({ result }) => 'value' in result && result.value === false)) return undefined;
  const failed = results.find(({ result }) => 'fault' in result);
  if (failed === undefined) return matched;
  if (webhook.failurePolicy === 'Ignore') return undefined;
  throw forbidden(
    { group: definition.group, resource: definition.plural },
    name,
    `expression '${failed.expression}' resulted in error: ${'fault' in failed.result ? failed.result.fault : ''}`,
  );
}

/** Calls the webhook; nothing when it failed and may. Throws its refusal. */
async function ask(
  webhook: Webhook,
  matched: ResourceDefinition,
  attributes: AdmissionAttributes,
  context: RequestContext,
  mutating: boolean,
): Promise<ReviewResponse | undefined> {
  const request = admissionRequest(attributes, context, matched);
  const resolved = resolveEndpoint(context.parts.store, webhook.clientConfig);
  const { timeoutSeconds = 10 } = webhook;
  const body = stringifyExact({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request });
  const reading =
    'fault' in resolved
      ? { fault: `failed to call webhook: ${unreachable(resolved, timeoutSeconds)}` }
      : readReviewResponse(
          await callWebhook(resolved.endpoint, body, {
            timeoutSeconds,
            caPem: caOf(webhook.clientConfig),
            signal: context.signal,
          }),
          request.uid,
          mutating,
        );
  if ('fault' in reading) {
    if (webhook.failurePolicy === 'Ignore') return undefined;
    throw internalError(`failed calling webhook ${JSON.stringify(webhook.name)}: ${reading.fault}`);
  }
  const { response } = reading;
  context.warnings.push(...response.warnings);
  for (const [key, value] of Object.entries(response.annotations))
    context.annotations[`${webhook.name}/${key}`] = value;
  if (!response.allowed) throw refusalOf(webhook.name, response);
  return response;
}

/** With the port, which a URL leaves out where it is the usual one. */
function unreachable({ fault, url }: { fault: string; url?: URL }, timeoutSeconds: number): string {
  if (url === undefined) return fault;
  const where = `${url.hostname}:${url.port === '' ? 443 : url.port}${url.pathname}`;
  return `Post "https://${where}?timeout=${timeoutSeconds}s": ${fault}`;
}

function caOf({ caBundle }: ClientConfig): string | undefined {
  return caBundle ? Buffer.from(caBundle, 'base64').toString('utf8') : undefined;
}
