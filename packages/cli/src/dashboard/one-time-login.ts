/** Who opens the link that the command printed is the person who runs it. The link works once. */
import { timingSafeEqual } from 'node:crypto';
import type { Sessions } from '@slurm-operator/dashboard';

export class OneTimeLogin {
  readonly #sessions: Sessions;
  readonly #user: string;
  #code: string | undefined;

  constructor(sessions: Sessions, user: string, code: string) {
    this.#sessions = sessions;
    this.#user = user;
    this.#code = code;
  }

  withToken(body: Readonly<Record<string, unknown>>) {
    const given = Buffer.from(typeof body['token'] === 'string' ? body['token'] : '');
    const wanted = Buffer.from(this.#code ?? '');
    if (wanted.length === 0 || given.length !== wanted.length || !timingSafeEqual(given, wanted))
      return Promise.resolve({
        kind: 'refused',
        status: 401,
        why: 'This link was used already. Run kubectl slurm dashboard again for a new one.',
      } as const);
    this.#code = undefined;
    const sessionId = this.#sessions.begin({ username: this.#user }, undefined);
    return Promise.resolve({ kind: 'done', sessionId, user: this.#user } as const);
  }

  byProxy(): undefined {
    return undefined;
  }
}
