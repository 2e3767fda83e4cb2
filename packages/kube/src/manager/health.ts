/** Health that means something: named checks, each with a reason when it fails. */

/** Undefined: well. A sentence: why not. */
export type Check = () => string | undefined;

export class Health {
  readonly #live = new Map<string, Check>();
  readonly #ready = new Map<string, Check>();

  /** Failing this means that only a restart helps. */
  addLiveCheck(name: string, check: Check): void {
    this.#live.set(name, check);
  }

  /** Failing this means: send no traffic here now. */
  addReadyCheck(name: string, check: Check): void {
    this.#ready.set(name, check);
  }

  /** Answers /livez, /healthz and /readyz in the form that the API server's own endpoints have. */
  answer(path: string): { status: number; text: string } | undefined {
    const checks =
      path === '/livez' || path === '/healthz' ? this.#live : path === '/readyz' ? this.#ready : undefined;
    if (checks === undefined) return undefined;
    let failed = 0;
    const lines: string[] = [];
    for (const [name, check] of checks) {
      const trouble = this.#ask(check);
      if (trouble !== undefined) failed += 1;
      lines.push(trouble === undefined ? `[+]${name} ok` : `[-]${name} failed: ${trouble}`);
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
