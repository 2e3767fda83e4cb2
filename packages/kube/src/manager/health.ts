/** Health checks: each has a name, and a reason if it fails. */

/** Returns undefined if healthy, else the reason. */
export type Check = () => string | undefined;

export class Health {
  readonly #live = new Map<string, Check>();
  readonly #ready = new Map<string, Check>();

  /** If it fails, only a restart helps. */
  addLiveCheck(name: string, check: Check): void {
    this.#live.set(name, check);
  }

  /** If it fails, send no traffic to this replica. */
  addReadyCheck(name: string, check: Check): void {
    this.#ready.set(name, check);
  }

  /** Serves /livez, /healthz and /readyz in the format of the API server. */
  answer(path: string): { status: number; text: string } | undefined {
    const checks =
      path === '/livez' || path === '/healthz' ? this.#live : path === '/readyz' ? this.#ready : undefined;
    if (checks === undefined) return undefined;
    let failed = 0;
    const lines: string[] = [];
    for (const [name, check] of checks) {
      const failure = this.#ask(check);
      if (failure !== undefined) failed += 1;
      lines.push(failure === undefined ? `[+]${name} ok` : `[-]${name} failed: ${failure}`);
    }
    lines.push(`${path.slice(1)} check ${failed === 0 ? 'passed' : 'failed'}`);
    return { status: failed === 0 ? 200 : 503, text: `${lines.join('\n')}\n` };
  }

  #ask(check: Check): string | undefined {
    try {
      return check();
    } catch (error) {
      return error instanceof Error ? error.message : 'the check threw';
    }
  }
}
