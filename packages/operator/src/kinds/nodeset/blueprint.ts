/** What workers are made of: the NodeSet as it is, or as it was at an older revision. */
import type { Controller, NodeSet } from '@slurm-operator/api';
import type { Client } from '@slurm-operator/kube';
import { asOfRevision } from './objects/revision.ts';
import { type WorkerSurroundings, type WorkerTemplate, workerTemplate } from './objects/worker-template.ts';
import { revisionContent } from './revisions.ts';

export interface Blueprint {
  readonly nodeSet: NodeSet;
  readonly template: WorkerTemplate;
  readonly revision: string;
}

/** Those of one reconcile: an older revision is read once, however many workers are made of it. */
export class Blueprints {
  readonly newest: Blueprint;
  readonly #older = new Map<string, Promise<Blueprint>>();
  readonly #controller: Controller;
  readonly #around: WorkerSurroundings;
  readonly #client: Client;

  constructor(
    nodeSet: NodeSet,
    revision: string,
    controller: Controller,
    around: WorkerSurroundings,
    client: Client,
  ) {
    this.newest = { nodeSet, template: workerTemplate(nodeSet, controller, around), revision };
    this.#controller = controller;
    this.#around = around;
    this.#client = client;
  }

  of(revision: string | undefined, signal: AbortSignal): Promise<Blueprint> {
    if (revision === undefined || revision === this.newest.revision) return Promise.resolve(this.newest);
    const known = this.#older.get(revision) ?? this.#read(revision, signal);
    this.#older.set(revision, known);
    return known;
  }

  /** Where somebody deleted the revision nobody knows any more what it was: the newest serves. */
  async #read(revision: string, signal: AbortSignal): Promise<Blueprint> {
    const { nodeSet } = this.newest;
    const content = await revisionContent(nodeSet, revision, this.#client, signal);
    if (content === undefined) return this.newest;
    const then = asOfRevision(nodeSet, content);
    return { nodeSet: then, template: workerTemplate(then, this.#controller, this.#around), revision };
  }
}
