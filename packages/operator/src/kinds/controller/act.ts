/** Carries out the actions that only a Controller has. */
import { randomBytes } from 'node:crypto';
import { annotation, type Controller, label } from '@slurm-operator/api';
import {
  AlreadyExistsError,
  BadRequestError,
  type Client,
  explain,
  ForbiddenError,
  InvalidError,
  type Live,
  NotFoundError,
  persistentVolumeClaims,
  pods,
  secrets,
} from '@slurm-operator/kube';
import type { Acting, ReconcilerManager } from '../../framework/define-reconciler.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import type { SlurmSurvey } from '../../slurm-config/guard/slurm-work.ts';
import type { ControllerNote } from './plan/memory.ts';
import type { ControllerAction, ControllerInput, ControllerPlan } from './plan/plan.ts';
import type { KeyNotice } from './plan/slurmctld-pods.ts';
import { type NotedState, type StateNote, stateNoteAnnotation } from './plan/state-note.ts';
import type { Resize } from './plan/state-volume.ts';
import type { WantedSecret } from './plan/wanted-keys.ts';
import { syncServiceMonitor } from './service-monitors.ts';
import { TrialRunner } from './trial-runner.ts';
import { writeKeys } from './write-keys.ts';

export type ControllerActing = Acting<Controller, ControllerInput, ControllerPlan, ControllerNote>;

export class ControllerActor {
  readonly #client: Client;
  readonly #survey: SlurmSurvey;
  readonly #trials: TrialRunner;

  constructor(manager: ReconcilerManager, defaults: OperatorDefaults, survey: SlurmSurvey) {
    this.#client = manager.client;
    this.#survey = survey;
    this.#trials = new TrialRunner(manager, defaults);
  }

  async act(action: ControllerAction, acting: ControllerActing): Promise<void> {
    const { object: controller, observed, plan, note, signal, clock } = acting;
    const { namespace, name } = controller.metadata;
    const client = this.#client;
    switch (action.type) {
      case 'CreateKey':
        if (await createKey(client, controller, action.secret, signal))
          note({ type: 'key-created', name: action.secret.name });
        return;
      case 'WriteKeys':
        return writeKeys(client, controller, action.keySet, signal);
      case 'Change':
        return this.#survey.setNodes(namespace, name, action.nodes, signal);
      case 'Run': {
        const { config, digest } = action;
        const run = { controller, observed, plan: plan.decision, config, digest, signal };
        const decision = await this.#trials.run(action.decision, run, clock.now());
        return note({ type: 'tried', digest, decision });
      }
      case 'Send':
        return notifyWorkers(client, namespace, action.notice, signal);
      case 'Resize': {
        const why = await resize(client, namespace, action.claim, signal);
        if (why !== undefined) note({ type: 'resize-refused', claim: action.claim, why, at: clock.now() });
        return;
      }
      case 'NoteState': {
        const written = await noteState(client, namespace, action.state, signal);
        return note({ type: 'state-noted', ...action.state, ...written, at: clock.now() });
      }
      case 'Sync': {
        const isKindAbsent = (await syncServiceMonitor(controller, client, signal)) === 'absent';
        return note({ type: 'monitor', isKindAbsent });
      }
      default:
        return action satisfies never;
    }
  }
}

/**
 * Created, never applied: a cache that lags must not replace a key that exists. And without an owner: the key outlives the Controller,
 * so that a cluster that is installed again finds its own. False: it exists.
 */
async function createKey(
  client: Client,
  { metadata }: Live<Controller>,
  { name, annotations, bytes }: WantedSecret,
  signal: AbortSignal,
): Promise<boolean> {
  const data = Object.fromEntries(
    Object.entries(bytes).map(([key, length]) => [key, randomBytes(length).toString('base64')]),
  );
  const labels = {
    [label.cluster]: metadata.name,
    [label.partOf]: 'slurm',
    [label.managedBy]: 'slurm-operator',
  };
  try {
    await client.create(
      secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: metadata.namespace, annotations: { ...annotations }, labels },
        type: 'Opaque',
        data,
      },
      { signal },
    );
    return true;
  } catch (error) {
    if (error instanceof AlreadyExistsError) return false;
    throw error;
  }
}

const notifiedAtOnce = 16;

/** Any change of a pod makes its kubelet update its files at once. */
async function notifyWorkers(
  client: Client,
  namespace: string,
  { digest, workers }: KeyNotice,
  signal: AbortSignal,
): Promise<void> {
  const patch = { metadata: { annotations: { [annotation.slurmKeyHash]: digest } } };
  for (let from = 0; from < workers.length; from += notifiedAtOnce)
    await Promise.all(
      workers.slice(from, from + notifiedAtOnce).map(async (name) => {
        try {
          await client.mergePatch(pods, { namespace, name }, patch, { signal });
        } catch (error) {
          if (!(error instanceof NotFoundError)) throw error;
        }
      }),
    );
}

const isRefusal = (error: unknown): error is ForbiddenError | InvalidError =>
  error instanceof ForbiddenError || error instanceof InvalidError;

/** A refusal is an answer, in the words of Kubernetes; everything else is retried by the queue. */
async function resize(
  client: Client,
  namespace: string,
  { name, uid, size }: Resize,
  signal: AbortSignal,
): Promise<string | undefined> {
  const body = { metadata: { uid }, spec: { resources: { requests: { storage: size } } } };
  try {
    await client.mergePatch(persistentVolumeClaims, { namespace, name }, body, { signal });
  } catch (error) {
    if (isRefusal(error)) return explain(error);
    if (!(error instanceof NotFoundError)) throw error;
  }
  return undefined;
}

/** A refusal is an answer: the configuration is put in force all the same. */
export async function noteState(
  client: Client,
  namespace: string,
  { claim, value }: StateNote,
  signal: AbortSignal,
): Promise<Pick<NotedState, 'refused' | 'missing'>> {
  const body = { metadata: { annotations: { [stateNoteAnnotation]: value } } };
  try {
    await client.mergePatch(persistentVolumeClaims, { namespace, name: claim }, body, { signal });
  } catch (error) {
    // A webhook that gives no code refuses with 400.
    if (isRefusal(error) || error instanceof BadRequestError) return { refused: explain(error) };
    if (!(error instanceof NotFoundError)) throw error;
    return { missing: true };
  }
  return {};
}
