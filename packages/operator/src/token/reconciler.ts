/** The Token controller: a token in a Secret, fresh for as long as it is wanted. */
import { conditionType, type Token } from '@slurm-operator/api';
import {
  controllerOf,
  controllerReference,
  type Live,
  type ReconcileContext,
  type Request,
  type Result,
  type Secret,
  secrets,
  timestamp,
} from '@slurm-operator/kube';
import { InvalidInput, signJwt } from '@slurm-operator/slurm';
import { jwtKeyOf } from '../builders/key-sources.ts';
import { controllers, tokens } from '../cache/resources.ts';
import { type ReconcilerNeeds, reconcileObject } from '../reconcile/reconcile-object.ts';
import type { Steps } from '../reconcile/steps.ts';
import { type Trouble as Problem, type Verdict, verdicts } from '../status/judge.ts';
import {
  allowedUsersAnnotation,
  mayHaveToken,
  planToken,
  secretOf,
  wasServedByUpstream,
  withUserListed,
} from './plan.ts';
import { readToken, type TokenFacts } from './stored-token.ts';

/** Upstream's operator lets the Secret with the key own the tokens that it signed; nobody else has a Secret own a Secret. */
const isUpstreams = (stored: Live<Secret>, key: Live<Secret>): boolean =>
  controllerOf(stored)?.uid === key.metadata.uid;

export class TokenReconciler {
  readonly #manager: ReconcilerNeeds;

  constructor(manager: ReconcilerNeeds) {
    this.#manager = manager;
  }

  readonly reconcile = async (request: Request, context: ReconcileContext): Promise<Result | void> => {
    const done = await reconcileObject(this.#manager, tokens, request, context, {
      act: (token, steps) => this.#renew(token, steps, context),
      report: (token, { problems, facts }, failures) => ({
        fields: {
          secretName: secretOf(token).name,
          ...(facts === undefined
            ? {}
            : { issuedAt: timestamp(facts.issuedAt), expiresAt: timestamp(facts.expiresAt) }),
        },
        verdicts: tokenVerdicts(token, facts !== undefined, [...problems, ...failures]),
      }),
    });
    if (done?.lookAgainAt !== undefined)
      return { requeueAfter: Math.max(1000, done.lookAgainAt - context.clock.now()) };
  };

  async #renew(
    token: Live<Token>,
    steps: Steps,
    context: ReconcileContext,
  ): Promise<{ problems: Problem[]; facts?: TokenFacts; lookAgainAt?: number | undefined }> {
    const { client } = this.#manager;
    const { signal } = context;
    const { namespace } = token.metadata;
    const keyRef = jwtKeyOf(token.spec) ?? { name: '', key: '' };
    const keySecret = await client.find(secrets, { namespace, name: keyRef.name }, { signal });
    const encoded = keySecret?.data?.[keyRef.key];
    if (keySecret === undefined || encoded === undefined) {
      const message =
        keySecret === undefined
          ? `there is no Secret ${keyRef.name} in namespace ${namespace}: create it.`
          : `Secret ${keyRef.name} has no key "${keyRef.key}": add it, or correct the name.`;
      return { problems: [{ reason: 'SecretNotFound', message }] };
    }
    const key = Buffer.from(encoded, 'base64');
    const target = secretOf(token);
    const stored = await client.find(secrets, { namespace, name: target.name }, { signal });
    const value = Buffer.from(stored?.data?.[target.key] ?? '', 'base64').toString('utf8');
    const known = readToken(value, key);
    const isOwnedByKey = stored !== undefined && isUpstreams(stored, keySecret);
    const annotations = keySecret.metadata.annotations ?? {};
    if (!mayHaveToken(token.spec.username, annotations)) {
      if (!wasServedByUpstream(token, { isOwnedByKey, facts: known }))
        return { problems: [userNotAllowed(token, keyRef.name)] };
      const recorded = await steps.run(`Secret ${keyRef.name}`, () =>
        this.#recordConsent(token, keySecret, signal),
      );
      if (!recorded) return { problems: [], ...(known === undefined ? {} : { facts: known }) };
    }
    const problems = this.#strangerKey(token, keyRef.name);
    if (stored !== undefined && isOwnedByKey && known?.username === token.spec.username)
      await steps.run(`Secret ${target.name}`, () => this.#takeOver(token, stored, signal));
    const now = context.clock.now();
    const plan = planToken(token, known, now);
    if (!plan.sign)
      return { problems, ...(known === undefined ? {} : { facts: known }), lookAgainAt: plan.lookAgainAt };
    let fresh: string;
    try {
      fresh = signJwt({ key, user: token.spec.username, lifetimeSeconds: plan.lifetime / 1000, now });
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      return { problems: [{ reason: 'InvalidKey', message: `Secret ${keyRef.name}: ${error.message}.` }] };
    }
    const written = await steps.run(`Secret ${target.name}`, () =>
      this.#write(token, target, fresh, stored, signal),
    );
    if (!written) return { problems };
    context.log.info({ why: plan.why, secret: target.name }, 'signed a token');
    const facts = readToken(fresh, key);
    return {
      problems,
      ...(facts === undefined ? {} : { facts }),
      lookAgainAt: token.spec.refresh ? now + plan.lifetime * 0.8 : undefined,
    };
  }

  async #write(
    token: Live<Token>,
    target: { readonly name: string; readonly key: string },
    fresh: string,
    stored: Live<Secret> | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, owned } = this.#manager;
    const { namespace } = token.metadata;
    // What cannot change must go first; by uid, so that no namesake is hit.
    if (
      stored?.immutable === true &&
      stored.metadata.ownerReferences?.some(({ uid }) => uid === token.metadata.uid)
    )
      await client.delete(secrets, { namespace, name: target.name }, { uid: stored.metadata.uid, signal });
    await owned.apply(
      secrets,
      token,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: target.name,
          namespace,
          labels: {
            'app.kubernetes.io/name': 'token',
            'app.kubernetes.io/instance': token.metadata.name,
            'app.kubernetes.io/component': 'token',
            'app.kubernetes.io/part-of': 'slurm',
            'app.kubernetes.io/managed-by': 'slurm-operator',
          },
        },
        immutable: !token.spec.refresh,
        data: { [target.key]: Buffer.from(fresh).toString('base64') },
      },
      // Whoever writes a Token names any Secret; one that is there already is not ours to fill.
      { signal, adopt: false },
    );
  }

  /** The token in it stays good; from now on the Secret goes with its Token. */
  async #takeOver(token: Live<Token>, { metadata }: Live<Secret>, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion } = metadata;
    const body = { metadata: { uid, resourceVersion, ownerReferences: [controllerReference(token)] } };
    await this.#manager.client.mergePatch(secrets, metadata, body, { signal });
  }

  /** What upstream's operator signed is written on the key, where its owner can see and revoke it. */
  async #recordConsent(token: Live<Token>, { metadata }: Live<Secret>, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion } = metadata;
    const annotations = {
      [allowedUsersAnnotation]: withUserListed(metadata.annotations ?? {}, token.spec.username),
    };
    const body = { metadata: { uid, resourceVersion, annotations } };
    await this.#manager.client.mergePatch(secrets, metadata, body, { signal });
  }

  #strangerKey(token: Live<Token>, name: string): Problem[] {
    const known = this.#manager.cache
      .list(controllers, { namespace: token.metadata.namespace })
      .some(({ spec }) => jwtKeyOf(spec)?.name === name);
    return known
      ? []
      : [
          {
            reason: 'InvalidKey',
            message: `Secret ${name} is the JWT key of no Controller in namespace ${token.metadata.namespace}: Slurm will refuse the token unless it uses the same key.`,
          },
        ];
  }
}

const userNotAllowed = ({ spec }: Live<Token>, keySecret: string): Problem => ({
  reason: 'UserNotAllowed',
  message: `${spec.username} can do anything in Slurm, so a token for it needs the consent of the key's owner: annotate Secret ${keySecret} with ${allowedUsersAnnotation}=${spec.username}, or choose another user.`,
});

/** A key that belongs to no Controller may still be right for a Slurm elsewhere: a warning, not a failure. */
function tokenVerdicts(token: Live<Token>, stored: boolean, problems: readonly Problem[]): Verdict[] {
  const well = `Secret ${secretOf(token).name} holds a token for ${token.spec.username}.`;
  const usable = stored && problems.every(({ reason }) => reason === 'InvalidKey');
  return verdicts(problems, well).map((verdict) =>
    verdict.type === conditionType.ready && usable
      ? { ...verdict, status: 'True', reason: 'Ready', message: well }
      : verdict,
  );
}
