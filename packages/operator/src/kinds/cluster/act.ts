/** Carries out the actions of a Cluster: connections in memory, and questions to Slurm. */
import type { Cluster } from '@slurm-operator/api';
import type { Live } from '@slurm-operator/kube';
import type { Acting } from '../../framework/define-reconciler.ts';
import { askAccounting } from '../../slurm-connection/ask-accounting.ts';
import { expired, tokenProvider } from '../../slurm-connection/credential.ts';
import { classify } from '../../slurm-connection/failure.ts';
import type { ConnectionPool } from '../../slurm-connection/pool.ts';
import type { SlurmConnection, SlurmPatience } from '../../slurm-connection/slurm-connection.ts';
import { type ClusterObserver, type Endpoint, keyOf, type ObservedCluster } from './observe.ts';
import type { Asked, ClusterAction, ClusterPlan } from './plan.ts';

/** A slurmrestd that cannot reach slurmctld answers after ten seconds; what takes longer is no answer. */
const pingTimeout = 12_000;

type ClusterActing = Acting<Cluster, ObservedCluster, ClusterPlan, Asked>;

export class ClusterActor {
  readonly #pool: ConnectionPool;
  readonly #observer: ClusterObserver;
  readonly #patience: SlurmPatience;

  constructor(pool: ConnectionPool, observer: ClusterObserver, patience: SlurmPatience = {}) {
    this.#pool = pool;
    this.#observer = observer;
    this.#patience = patience;
  }

  async act(action: ClusterAction, acting: ClusterActing): Promise<void> {
    const { object, note, clock } = acting;
    switch (action.type) {
      case 'CloseConnection':
        return this.#pool.remove(keyOf(object));
      case 'OpenConnection':
        await this.#open(object, action.endpoint);
        return;
      case 'AskSlurm': {
        const answer = await this.#ask(action.endpoint, action.withAccounting, acting);
        const isRefused = 'class' in answer && answer.class === 'authentication';
        const last =
          isRefused && action.readKeyAgain ? await this.#askAgain(action.withAccounting, acting) : answer;
        return note({ at: clock.now(), answer: last });
      }
      default:
        return action satisfies never;
    }
  }

  async #askAgain(withAccounting: boolean, acting: ClusterActing): Promise<Asked['answer']> {
    await this.#pool.remove(keyOf(acting.object));
    const endpoint = await this.#observer.readEndpoint(acting.object, acting.signal);
    return 'class' in endpoint ? endpoint : this.#ask(endpoint, withAccounting, acting);
  }

  #open(cluster: Live<Cluster>, { target, credential, fingerprint }: Endpoint): Promise<SlurmConnection> {
    const { secret, ca } = credential.reveal();
    return this.#pool.use(keyOf(cluster), fingerprint, () => ({
      server: target.server,
      token: tokenProvider(target, secret, this.#pool.slurmClock),
      ca,
      patience: this.#patience,
    }));
  }

  async #ask(
    endpoint: Endpoint,
    withAccounting: boolean,
    { object, signal, clock }: ClusterActing,
  ): Promise<Asked['answer']> {
    const { target, credential } = endpoint;
    const request = { signal, timeoutMs: this.#pingTimeout };
    try {
      const connection = await this.#open(object, endpoint);
      const { controller, about } = connection.client;
      await controller.check(request);
      const askedAt = clock.now();
      const diag = await controller.diag(request);
      connection.controllerStart.told(diag.startedAt, askedAt);
      connection.lastDiag = { at: askedAt, diag };
      if (diag.time !== undefined) connection.controllerTime(diag.time);
      return {
        server: target.server,
        slurmVersion: about.release,
        apiVersion: await connection.client.apiVersion({ signal }),
        view: connection.gateway.view(),
        jobs: connection.jobCounts(),
        accounting: withAccounting ? await askAccounting(connection.client, signal) : undefined,
      };
    } catch (error) {
      if (signal.aborted) throw error;
      return expired(classify(error, target.server), target, credential.reveal().secret, clock.now());
    }
  }

  /** A little more than slurmrestd itself waits for a dead slurmctld, unless configured otherwise. */
  get #pingTimeout(): number {
    return Math.min(pingTimeout, this.#patience.requestTimeoutMs ?? pingTimeout);
  }
}
