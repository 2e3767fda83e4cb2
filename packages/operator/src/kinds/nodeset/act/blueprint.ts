/** What workers are created from: the NodeSet as it is, or as it was at an older revision. */
import { type Controller, label, type NodeSet } from '@slurm-operator/api';
import { type Client, controllerRevisions } from '@slurm-operator/kube';
import { asOfRevision } from '../objects/revision.ts';
import { type WorkerDefaults, type WorkerTemplate, workerTemplate } from '../objects/worker-template.ts';

export interface Blueprint {
  readonly nodeSet: NodeSet;
  readonly template: WorkerTemplate;
  readonly revision: string;
}

/** Of one reconcile: an older revision is read once, however many workers are created from it. */
export class Blueprints {
  readonly newest: Blueprint;
  readonly #older = new Map<string, Promise<Blueprint>>();
  readonly #controller: Controller;
  readonly #defaults: WorkerDefaults;
  readonly #client: Client;

  constructor(
    nodeSet: NodeSet,
    revision: string,
    controller: Controller,
    defaults: WorkerDefaults,
    client: Client,
  ) {
    this.newest = { nodeSet, template: workerTemplate(nodeSet, controller, defaults), revision };
    this.#controller = controller;
    this.#defaults = defaults;
    this.#client = client;
  }

  of(revision: string | undefined, signal: AbortSignal): Promise<Blueprint> {
    if (revision === undefined || revision === this.newest.revision) return Promise.resolve(this.newest);
    const known = this.#older.get(revision) ?? this.#read(revision, signal);
    this.#older.set(revision, known);
    return known;
  }

  /** Where the revision was deleted, its content is unknown: the newest takes its place. */
  async #read(revision: string, signal: AbortSignal): Promise<Blueprint> {
    const { nodeSet } = this.newest;
    const content = await revisionContent(nodeSet, revision, this.#client, signal);
    if (content === undefined) return this.newest;
    const then = asOfRevision(nodeSet, content);
    return { nodeSet: then, template: workerTemplate(then, this.#controller, this.#defaults), revision };
  }
}

/** What a revision holds: the cache keeps a digest only. Undefined: there is no such revision any more. */
async function revisionContent(
  { metadata: { namespace, uid } }: NodeSet,
  revision: string,
  client: Client,
  signal: AbortSignal,
): Promise<unknown> {
  const labelSelector = `${label.revision}=${revision}`;
  const { items } = await client.list(controllerRevisions, { namespace, labelSelector, signal });
  return items.find((each) => each.metadata.ownerReferences?.some((owner) => owner.uid === uid))?.data;
}
