/** Asks the token exchange of the manager for a Slurm token, with the bearer token of the user. */
import { request } from 'node:https';
import { tokenExchange } from '@slurm-operator/api';
import { type Client, configMaps, type Live, type Pod, pods } from '@slurm-operator/kube';
import type { Clock } from '@slurm-operator/slurm';
import type { Scope } from '../exchange/exchange-token.ts';

export interface ExchangePlace {
  /** Where the manager runs. */
  readonly namespace: string;
  /** Of its pods. */
  readonly selector: string;
}

export interface TokenRequest {
  readonly bearer: string;
  readonly namespace: string;
  readonly cluster: string;
  readonly scope: Scope;
  /** The person whom a proxy has logged in. */
  readonly onBehalfOf?: { readonly user: string; readonly groups: readonly string[] };
}

export interface IssuedToken {
  readonly token: string;
  readonly slurmUser: string;
  readonly expiresAt: number;
}

/** There is no token; the message is a sentence for people. */
export class ExchangeRefused extends Error {
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly authority: string;
}

const timeoutMs = 10_000;
const longestAnswer = 16_384;
/** Pods are looked for again after this long, and after every failure. */
const keepEndpointMs = 30_000;

export class ExchangeClient {
  readonly #client: Client;
  readonly #place: ExchangePlace;
  readonly #clock: Clock;
  #endpoint: { readonly found: Endpoint; readonly at: number } | undefined;

  constructor(client: Client, place: ExchangePlace, clock: Clock) {
    this.#client = client;
    this.#place = place;
    this.#clock = clock;
  }

  /** Throws {@link ExchangeRefused}. */
  async ask({ bearer, ...body }: TokenRequest, signal: AbortSignal): Promise<IssuedToken> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const { status, said } = await post(await this.#find(limit), bearer, JSON.stringify(body), limit);
      const { token, slurmUser = '', expiresAt = '', message = `it answers ${status}` } = said;
      if (status === 200 && token !== undefined)
        return { token, slurmUser, expiresAt: Date.parse(expiresAt) };
      throw new ExchangeRefused(status, `The operator gives no Slurm token: ${message}.`);
    } catch (error) {
      if (error instanceof ExchangeRefused) throw error;
      this.#endpoint = undefined;
      throw new ExchangeRefused(
        503,
        'The token exchange of the operator does not answer. Reading goes on while its last token is valid.',
        { cause: error },
      );
    }
  }

  async #find(signal: AbortSignal): Promise<Endpoint> {
    const now = this.#clock.now();
    if (this.#endpoint !== undefined && now - this.#endpoint.at < keepEndpointMs && now >= this.#endpoint.at)
      return this.#endpoint.found;
    const { namespace, selector } = this.#place;
    const published = await this.#client.find(
      configMaps,
      { namespace, name: tokenExchange.name },
      { signal },
    );
    const authority = published?.data?.['ca.crt'];
    if (authority === undefined)
      throw new ExchangeRefused(
        501,
        `The operator in namespace ${namespace} serves no token exchange: set operator.tokenExchange.enabled=true.`,
      );
    const { items } = await this.#client.list(pods, { namespace, labelSelector: selector, signal });
    const found = items.flatMap((pod) => endpointOf(pod, authority))[0];
    if (found === undefined)
      throw new ExchangeRefused(503, `No pod of the operator in namespace ${namespace} is ready.`);
    this.#endpoint = { found, at: now };
    return found;
  }
}

function endpointOf({ metadata, spec, status }: Live<Pod>, authority: string): readonly Endpoint[] {
  const isReady = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
  const port = spec?.containers
    .flatMap(({ ports }) => ports ?? [])
    .find(({ name }) => name === tokenExchange.portName)?.containerPort;
  const host = status?.podIP;
  if (!isReady || metadata.deletionTimestamp !== undefined || port === undefined || host === undefined)
    return [];
  return [{ host, port, authority }];
}

function post(
  { host, port, authority }: Endpoint,
  bearer: string,
  body: string,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly said: Readonly<Record<string, string | undefined>> }> {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof post>>>();
  const sent = request(
    {
      host,
      port,
      method: 'POST',
      path: tokenExchange.path,
      ca: authority,
      servername: tokenExchange.host,
      headers: { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' },
      agent: false,
      signal,
    },
    (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', reject);
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > longestAnswer) response.destroy(new Error('the answer is too long'));
      });
      response.on('end', () => {
        try {
          resolve({ status: response.statusCode ?? 0, said: JSON.parse(text) as Record<string, string> });
        } catch (error) {
          reject(error);
        }
      });
    },
  );
  sent.on('error', reject);
  sent.end(body);
  return promise;
}
