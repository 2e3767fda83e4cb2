/** What the operator did to workers, from the API server's audit log and, for Slurm, from its own. */
import { readFileSync } from 'node:fs';
import type { ApiServer } from '@slurm-operator/apiserver';

/** Something the operator did to a worker that would end the work on it. */
export interface Blow {
  readonly what: 'pod deleted' | 'pod evicted' | 'node set DOWN';
  /** The worker; pod and Slurm node have one name here. */
  readonly worker: string;
  readonly at: number;
}

/** Collects the deletes and evictions of one user from the audit log, which forgets what is old. */
export class BlowLog {
  readonly #server: ApiServer;
  readonly #user: string;
  readonly #operatorLog: string;
  readonly #pods: Blow[] = [];
  #lastId = 0;

  constructor(server: ApiServer, user: string, operatorLog: string) {
    this.#server = server;
    this.#user = user;
    this.#operatorLog = operatorLog;
  }

  /** Call it often enough that the audit log has not forgotten. */
  collect(): void {
    const news = this.#server.audit.find(({ id }) => id > this.#lastId);
    for (const { user, resource, subresource, verb, status, name, time } of news) {
      if (user !== this.#user || resource !== 'pods' || status >= 300) continue;
      if (verb === 'delete') this.#pods.push({ what: 'pod deleted', worker: name, at: time });
      if (subresource === 'eviction') this.#pods.push({ what: 'pod evicted', worker: name, at: time });
    }
    this.#lastId = news.at(-1)?.id ?? this.#lastId;
  }

  /** Slurm keeps no audit log: what was set DOWN stands in the operator's own. */
  all(): Blow[] {
    this.collect();
    return [...this.#pods, ...setDown(readFileSync(this.#operatorLog, 'utf8'))];
  }
}

/** An operator that was killed may have left half a line, and the next one goes on behind it. */
export function setDown(log: string): Blow[] {
  const done = /"time":"([^"]+)"(?:(?!"time":")[^\n])*"kind":"set-down","slurmName":"([^"]+)"/g;
  return [...log.matchAll(done)].map(([, time = '', worker = '']) => ({
    what: 'node set DOWN',
    worker,
    at: Date.parse(time),
  }));
}
