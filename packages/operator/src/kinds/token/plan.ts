/** What to do for a Token. Pure: a token is computed from the key, the user and the time. */
import { controllerOf, controllerReference, type Live, type Secret, secrets } from '@slurm-operator/kube';
import { InvalidInput, signJwt } from '@slurm-operator/slurm';
import { type Action, titleOf } from '../../framework/actions.ts';
import type { Plan } from '../../framework/define-reconciler.ts';
import type { Problem } from '../../framework/status/conditions.ts';
import { inheritedMeta } from '../../objects/object-meta.ts';
import type { ObservedToken } from './observe.ts';
import {
  allowedUsersAnnotation,
  isUserId,
  mayHaveToken,
  planRenewal,
  readToken,
  secretOf,
  type TokenFacts,
  wasServedByUpstream,
  withUserListed,
} from './renewal.ts';

export interface TokenPlan extends Plan {
  /** The new token, if one is to be written. */
  readonly renewal?: { readonly write: Action; readonly facts: TokenFacts | undefined; readonly why: string };
}

export function planToken(observed: ObservedToken, now: number): TokenPlan {
  const { token, keySecret, key, stored, facts } = observed;
  if (keySecret === undefined || key === undefined) return { actions: [], problems: [missingKey(observed)] };
  const isOwnedByKey =
    stored !== undefined && controllerOf(stored as Live<Secret>)?.uid === keySecret.metadata.uid;
  const actions: Action[] = [];
  if (!mayHaveToken(token.spec.username, keySecret.metadata.annotations ?? {})) {
    if (!wasServedByUpstream(token, { isOwnedByKey, facts }))
      return { actions, problems: [userNotAllowed(observed)] };
    actions.push(recordConsent(observed));
  }
  const needs = actions.map(titleOf);
  if (stored !== undefined && isOwnedByKey && facts?.username === token.spec.username)
    actions.push({ ...takeOver(observed), needs });
  const problems = observed.isControllersKey ? [] : [foreignKey(observed)];
  const renewal = planRenewal(token, facts, now);
  if (!renewal.sign) return { actions, problems, lookAgainAt: renewal.lookAgainAt };

  const signed = sign(observed, key.reveal(), renewal.lifetime, now);
  if ('reason' in signed) return { actions, problems: [signed] };
  const write: Action = { ...writeSecret(observed, signed.text), needs };
  if (mustBeReplaced(observed)) actions.push({ ...deleteStored(observed), needs });
  return {
    actions: [...actions, write],
    problems,
    lookAgainAt: token.spec.refresh ? now + renewal.lifetime * 0.8 : undefined,
    renewal: { write, facts: readToken(signed.text, key.reveal()), why: renewal.why },
  };
}

function sign(
  { token, keyRef }: ObservedToken,
  key: Buffer,
  lifetime: number,
  now: number,
): { readonly text: string } | Problem {
  try {
    return { text: signJwt({ key, user: token.spec.username, lifetimeSeconds: lifetime / 1000, now }) };
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return { reason: 'InvalidKey', message: `Secret ${keyRef.name}: ${error.message}.` };
  }
}

/** What upstream's operator signed is written on the key, where its owner can see and revoke it. */
function recordConsent({ token, keySecret, keyRef }: ObservedToken): Action {
  const { namespace, uid, resourceVersion, annotations = {} } = keySecret?.metadata ?? token.metadata;
  const listed = { [allowedUsersAnnotation]: withUserListed(annotations, token.spec.username) };
  return {
    type: 'Patch',
    resource: secrets,
    ref: { namespace, name: keyRef.name },
    body: { metadata: { uid, resourceVersion, annotations: listed } },
  };
}

/** Upstream's operator makes the Secret with the key the owner of the tokens that it signed. The token stays valid. */
function takeOver({ token, stored }: ObservedToken): Action {
  const { namespace } = token.metadata;
  const { uid, resourceVersion } = stored?.metadata ?? {};
  return {
    type: 'Patch',
    resource: secrets,
    ref: { namespace, name: secretOf(token).name },
    body: { metadata: { uid, resourceVersion, ownerReferences: [controllerReference(token)] } },
  };
}

/** An immutable Secret of ours is deleted before the new one is written. */
const mustBeReplaced = ({ token, stored }: ObservedToken): boolean =>
  stored?.immutable === true &&
  (stored.metadata.ownerReferences?.some(({ uid }) => uid === token.metadata.uid) ?? false);

function deleteStored({ token, stored }: ObservedToken): Action {
  const { namespace } = token.metadata;
  const ref = { namespace, name: secretOf(token).name };
  return { type: 'Delete', resource: secrets, ref, uid: stored?.metadata.uid ?? '' };
}

function writeSecret({ token }: ObservedToken, text: string): Action {
  const { name, key } = secretOf(token);
  // Reflectors and backup tools read them from the Secret. A change takes effect with the next token.
  const { labels, annotations } = inheritedMeta(token);
  return {
    type: 'Apply',
    resource: secrets,
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace: token.metadata.namespace,
        annotations,
        labels: {
          ...labels,
          'app.kubernetes.io/name': 'token',
          'app.kubernetes.io/instance': token.metadata.name,
          'app.kubernetes.io/component': 'token',
          'app.kubernetes.io/part-of': 'slurm',
          'app.kubernetes.io/managed-by': 'slurm-operator',
        },
      },
      immutable: !token.spec.refresh,
      data: { [key]: Buffer.from(text).toString('base64') },
    } as Secret,
    // A Token may name any Secret: one that exists already is not ours to fill.
    adopt: false,
  };
}

function missingKey({ token: { metadata }, keyRef, keySecret }: ObservedToken): Problem {
  const message =
    keySecret === undefined
      ? `Secret ${keyRef.name} does not exist in namespace ${metadata.namespace}: create it.`
      : `Secret ${keyRef.name} has no key "${keyRef.key}": add it, or correct the name.`;
  return { reason: 'SecretNotFound', message };
}

/** It may still be the key of a Slurm elsewhere: a warning, not a failure. */
const foreignKey = ({ token, keyRef }: ObservedToken): Problem => ({
  reason: 'InvalidKey',
  message: `no Controller in namespace ${token.metadata.namespace} uses Secret ${keyRef.name} as its JWT key: Slurm refuses the token unless it uses the same key.`,
});

const userNotAllowed = ({ token: { spec }, keyRef }: ObservedToken): Problem => ({
  reason: 'UserNotAllowed',
  message: `${isUserId(spec.username) ? `Slurm reads ${spec.username} as a user id, which may be the one of root or slurm` : `${spec.username} can do anything in Slurm`}, so a token for it must be allowed by the owner of the key: annotate Secret ${keyRef.name} with ${allowedUsersAnnotation}=${spec.username}, or choose another user.`,
});
