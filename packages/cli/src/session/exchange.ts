/** A Slurm token of your own: your identity in Kubernetes, exchanged by the operator, where that is enabled. */
import { request } from 'node:https';
import { tokenExchange } from '@slurm-operator/api';
import {
  backoffDelay,
  type Client,
  configMaps,
  ForbiddenError,
  forwardPort,
  type Live,
  NotFoundError,
  type Pod,
  pods,
  sleep,
  systemClock,
} from '@slurm-operator/kube';
import type { TokenProvider } from '@slurm-operator/slurm';
import { CliError } from '../errors.ts';
import { isLeaving, isReady } from './serving-pods.ts';
import type { Session } from './session.ts';

export type Exchanged =
  | { readonly kind: 'token'; readonly token: TokenProvider; readonly user: string }
  /** There is none, or it cannot be used with these credentials; `why` if the user should know. */
  | {
      readonly kind: 'none';
      readonly why: string | undefined;
      /** There may be an exchange, but not for this user: whom to ask. */
      readonly closed?: string | undefined;
    };

interface Issued {
  readonly token: string;
  readonly slurmUser: string;
  readonly expiresAt: number;
}

interface Exchange {
  readonly authority: string;
  readonly pod: Live<Pod>;
  readonly port: number;
}

const none = (why?: string): Exchanged => ({ kind: 'none', why });
/** A new token is fetched this long before the old one ends. */
const early = 60_000;
const defaultNamespace = 'slinky';
/** While the exchange cannot reach the API server. */
const retries = 3;
const backoff = { initial: 500, limit: 4_000 };

export async function exchangedToken(session: Session): Promise<Exchanged> {
  // The exchange knows whose token it is given; an impersonated user has none.
  const client = await session.client();
  if (Object.keys(client.config.headers ?? {}).some((header) => /^impersonate-/i.test(header)))
    return none(
      'you act as another user (--as, or "as" in your kubeconfig), and the token exchange knows only your own token',
    );
  const exchange = await findExchange(session, client);
  if (exchange === 'closed')
    return {
      kind: 'none',
      why: undefined,
      closed: `If the operator in namespace ${operatorNamespace(session)} exchanges tokens, not for you: ask for the Role ${tokenExchange.name} there`,
    };
  if (exchange === undefined) return none();
  const { authorization = '' } = await client.config.identity({ refused: false });
  if (!/^Bearer \S+$/i.test(authorization))
    return none(
      'your kubeconfig logs you in with a client certificate, which only the API server can check; log in with a token (--token, or a login plugin of your identity provider)',
    );
  const ask = () => issue(session, client, exchange, authorization);
  const first = await ask();
  if ('refusal' in first) return none(first.refusal);
  let kept: Issued = first;
  return {
    kind: 'token',
    user: first.slurmUser,
    token: {
      async token() {
        if (session.io.now() < kept.expiresAt - early) return kept.token;
        const next = await ask();
        if ('refusal' in next) throw new CliError(`The operator refuses a new Slurm token: ${next.refusal}.`);
        kept = next;
        return kept.token;
      },
    },
  };
}

const operatorNamespace = ({ line, io }: Session): string =>
  line.text('operator-namespace') ?? io.env['KUBECTL_SLURM_OPERATOR_NAMESPACE'] ?? defaultNamespace;

/** Undefined where the exchange is off; `closed` to a user who may not look for it. */
async function findExchange(session: Session, client: Client): Promise<Exchange | 'closed' | undefined> {
  const namespace = operatorNamespace(session);
  const { signal } = session;
  try {
    const published = await client.get(configMaps, { namespace, name: tokenExchange.name }, { signal });
    const { items } = await client.list(pods, {
      namespace,
      signal,
    });
    const authority = published.data?.['ca.crt'] ?? '';
    for (const pod of items) {
      const port = pod.spec?.containers
        .flatMap(({ ports }) => ports ?? [])
        .find(({ name }) => name === tokenExchange.portName)?.containerPort;
      if (isReady(pod) && !isLeaving(pod) && port !== undefined && authority !== '')
        return { authority, pod, port };
    }
    return undefined;
  } catch (error) {
    if (error instanceof ForbiddenError) return 'closed';
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

async function issue(
  session: Session,
  client: Client,
  { authority, pod, port }: Exchange,
  authorization: string,
): Promise<Issued | { readonly refusal: string }> {
  const { metadata } = await session.cluster();
  const { signal, timeout } = session;
  await using forwarded = await forwardPort(client, pod.metadata, port, { signal, timeout });
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  const post = async (scope: string) => {
    const body = JSON.stringify({ namespace: metadata.namespace, cluster: metadata.name, scope });
    for (let retry = 0; ; retry += 1) {
      const answer = await send({ port: forwarded.port, authority, authorization, body, signal: deadline });
      if (answer.status !== 503 || retry === retries) return answer;
      await sleep(backoffDelay(backoff, retry, systemClock), deadline);
    }
  };
  let answer = await post(session.scope);
  // Who may not act as the administrator acts as themselves, and Slurm decides.
  if (answer.status === 403 && session.scope !== 'jobs') {
    session.note(`You act as yourself, not as Slurm's administrator: ${answer.body.message ?? 'refused'}.`);
    answer = await post('jobs');
  }
  const { token, slurmUser, expiresAt, message } = answer.body;
  if (answer.status === 200 && token !== undefined)
    return { token, slurmUser: slurmUser ?? '', expiresAt: Date.parse(expiresAt ?? '') };
  // Not a reason to act as another user with a key in a Secret.
  if (answer.status === 429 || answer.status === 503)
    throw new CliError(
      `The operator gives you no Slurm token now: ${message ?? `it answers ${answer.status}`}. Try again in ${answer.retryAfter ?? 'a few'} seconds.`,
    );
  return { refusal: message ?? `it answers ${answer.status}` };
}

interface Post {
  readonly port: number;
  readonly authority: string;
  readonly authorization: string;
  readonly body: string;
  readonly signal: AbortSignal;
}

const longestAnswer = 16_384;

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, string | undefined>>;
  /** Seconds. */
  readonly retryAfter: string | undefined;
}

function send({ port, authority, authorization, body, signal }: Post): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const failed = (cause: unknown) =>
    reject(new CliError(`The token exchange of the operator does not respond as it should.`, { cause }));
  const sent = request(
    {
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: tokenExchange.path,
      ca: authority,
      servername: tokenExchange.host,
      headers: { Authorization: authorization, 'Content-Type': 'application/json' },
      agent: false,
      signal,
    },
    (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', failed);
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > longestAnswer) response.destroy(new Error('the answer is too long'));
      });
      response.on('end', () => {
        try {
          resolve({
            status: response.statusCode ?? 0,
            body: JSON.parse(text) as Record<string, string>,
            retryAfter: /^\d{1,4}$/.exec(response.headers['retry-after'] ?? '')?.[0],
          });
        } catch (error) {
          failed(error);
        }
      });
    },
  );
  sent.on('error', failed);
  sent.end(body);
  return promise;
}
