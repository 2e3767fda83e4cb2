/** A way to slurmrestd and a token for it: $SLURM_JWT, the token exchange, or the key or token in a Secret that the user may read. */
import { port as wellKnownPort } from '@slurm-operator/api';
import { type Client, ForbiddenError, forwardPort, NotFoundError, pods, secrets } from '@slurm-operator/kube';
import {
  jwtExpiry,
  jwtUser,
  SlurmClient,
  signedToken,
  staticToken,
  type TokenProvider,
} from '@slurm-operator/slurm';
import { CliError, NoTokenError } from '../errors.ts';
import { exchangedToken } from './exchange.ts';
import { controllers, restApis } from './resources.ts';
import { isLeaving, isReady } from './serving-pods.ts';
import type { Session } from './session.ts';

export interface OpenSlurm extends AsyncDisposable {
  readonly client: SlurmClient;
  readonly server: string;
  /** Whom a token is for that the plugin signed, or found in a Secret; `undefined` for a token of the user's own. */
  readonly user: string | undefined;
}

const samePodMs = 5_000;

/** What the operator itself is to Slurm. */
const administrator = 'slurm';

export async function openSlurm(session: Session): Promise<OpenSlurm> {
  const cluster = await session.cluster();
  const [found, reached] = await Promise.allSettled([findToken(session), findServer(session)]);
  if (found.status === 'rejected') {
    // A forwarded port that stays open keeps the process from ending.
    if (reached.status === 'fulfilled') await reached.value.close();
    throw found.reason;
  }
  if (reached.status === 'rejected') throw reached.reason;
  const { token, user } = found.value;
  const way = reached.value;
  const client = new SlurmClient({ server: way.server, token, timeoutMs: session.timeout });
  const { spec } = cluster;
  return {
    client,
    server: spec.server ?? way.server,
    user,
    async [Symbol.asyncDispose]() {
      client.close();
      await way.close();
    },
  };
}

/** The address of slurmrestd as this machine reaches it. */
export async function findServer(
  session: Session,
  localPort = 0,
): Promise<{ readonly server: string; readonly close: () => Promise<void> }> {
  const { spec, metadata } = await session.cluster();
  if (spec.server !== undefined) return { server: spec.server, close: () => Promise.resolve() };
  const client = await session.client();
  const find = () => restPod(session, client, metadata.namespace, spec.controllerRef?.name ?? '');
  let pod = await find();
  let foundAt = session.io.now();
  // slurmrestd may be replaced during a long wait: a later connection looks for it again.
  const current = async () => {
    if (session.io.now() - foundAt > samePodMs) pod = await find();
    foundAt = session.io.now();
    return pod.ref;
  };
  const forwarded = await forwardPort(client, current, pod.port, {
    localPort,
    signal: session.signal,
    timeout: session.timeout,
  });
  return {
    server: `http://127.0.0.1:${forwarded.port}`,
    close: () => Promise.resolve(forwarded[Symbol.asyncDispose]()),
  };
}

async function restPod(session: Session, client: Client, namespace: string, controller: string) {
  const { signal } = session;
  const [{ items: apis }, { items: found }] = await Promise.all([
    client.list(restApis, { namespace, signal }),
    client.list(pods, { namespace, signal, labelSelector: 'app.kubernetes.io/component=restapi' }),
  ]);
  const mine = apis.filter(({ spec }) => spec.controllerRef.name === controller);
  if (mine.length === 0)
    throw new CliError(
      `Slurm cannot be reached: no RestApi in namespace ${namespace} serves Controller ${controller}.`,
    );
  const names = new Set(mine.map(({ metadata }) => metadata.name));
  const ready = found.find(
    (pod) =>
      names.has(pod.metadata.labels?.['app.kubernetes.io/instance'] ?? '') && !isLeaving(pod) && isReady(pod),
  );
  if (ready === undefined)
    throw new CliError(
      `Slurm cannot be reached: no pod of slurmrestd is ready (RestApi ${[...names].join(', ')}). See kubectl slurm doctor.`,
    );
  const ports = ready.spec?.containers.find(({ name }) => name === 'slurmrestd')?.ports ?? [];
  return {
    ref: { namespace, name: ready.metadata.name },
    port: ports[0]?.containerPort ?? wellKnownPort.slurmrestd,
  };
}

/** Never prints the token, nor the key. */
export async function findToken(
  session: Session,
): Promise<{ readonly token: TokenProvider; readonly user: string | undefined }> {
  const given = session.io.env['SLURM_JWT'] ?? '';
  const wanted = session.line.text('slurm-user');
  if (given !== '' && wanted === undefined) {
    const end = jwtExpiry(given);
    if (end !== undefined && end < session.io.now())
      throw new CliError(
        `The token in $SLURM_JWT expired at ${new Date(end).toISOString()}: unset it, or get a new one.`,
      );
    return { token: staticToken(given), user: undefined };
  }
  const exchanged =
    wanted === undefined
      ? await exchangedToken(session)
      : ({ kind: 'none', why: undefined, closed: undefined } as const);
  if (exchanged.kind === 'token') return { token: exchanged.token, user: undefined };
  try {
    return await tokenFromSecret(session, wanted);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (exchanged.why === undefined) {
      if (exchanged.closed === undefined || !(error instanceof NoTokenError)) throw error;
      throw new NoTokenError(`${error.message} ${exchanged.closed}.`, { cause: error });
    }
    const Same = error instanceof NoTokenError ? NoTokenError : CliError;
    throw new Same(`The operator gives you no Slurm token: ${exchanged.why}. ${error.message}`, {
      cause: error,
    });
  }
}

async function tokenFromSecret(
  session: Session,
  wanted: string | undefined,
): Promise<{ readonly token: TokenProvider; readonly user: string | undefined }> {
  const cluster = await session.cluster();
  const client = await session.client();
  const { namespace } = cluster.metadata;
  const stored = cluster.spec.tokenSecretRef ?? cluster.spec.token?.secretRef;
  const user = wanted ?? cluster.spec.username ?? administrator;
  if (stored !== undefined) {
    const value = await secretValue(
      session,
      client,
      namespace,
      stored.name,
      stored.key ?? 'SLURM_JWT',
      'token',
    );
    const text = value.toString('utf8').trim();
    const owner = jwtUser(text);
    if (wanted !== undefined && owner !== wanted)
      throw new CliError(
        `The token in Secret ${stored.name} is for ${owner === undefined ? 'a Slurm user that it does not name' : `Slurm user ${owner}`}, not for ${wanted}: export SLURM_JWT with a token of ${wanted}, and leave --slurm-user out.`,
      );
    return { token: staticToken(text), user: owner };
  }
  const name = cluster.spec.controllerRef?.name ?? '';
  const controller = await client.get(controllers, { namespace, name }, { signal: session.signal });
  const key = controller.spec.jwtKeyRef ?? controller.spec.jwtHs256KeyRef;
  if (key === undefined)
    throw new CliError(`Controller ${name} has no JWT key: export SLURM_JWT with a token of your own.`);
  const value = await secretValue(session, client, namespace, key.name ?? '', key.key ?? '', 'JWT key');
  return { token: signedToken({ key: value, user, lifetimeSeconds: 300, issuer: 'kubectl-slurm' }), user };
}

async function secretValue(
  session: Session,
  client: Client,
  namespace: string,
  name: string,
  key: string,
  what: string,
): Promise<Buffer> {
  try {
    const { data } = await client.get(secrets, { namespace, name }, { signal: session.signal });
    const value = data?.[key];
    if (value === undefined)
      throw new CliError(`The Secret ${name} in namespace ${namespace} has no key ${key}.`);
    return Buffer.from(value, 'base64');
  } catch (error) {
    if (error instanceof ForbiddenError)
      throw new NoTokenError(
        `This needs a Slurm token: export SLURM_JWT, or ask for the right to read Secret ${name} (the ${what}) in namespace ${namespace}.`,
        { cause: error },
      );
    if (error instanceof NotFoundError)
      throw new CliError(`The Secret ${name} (the ${what}) does not exist in namespace ${namespace}.`, {
        cause: error,
      });
    throw error;
  }
}
