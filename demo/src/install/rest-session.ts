/** A client of slurmrestd as in the documentation: a token in a header, JSON in and out. */
import { sleep } from '@slurm-operator/kube';

interface Answer {
  readonly job_id?: number;
  readonly errors?: readonly { readonly description?: string; readonly error?: string }[];
  readonly jobs?: readonly { readonly job_state: readonly string[] }[];
}

export class RestSession {
  readonly #base: string;
  readonly #token: string;

  constructor(options: { readonly port: number; readonly version: string; readonly token: string }) {
    this.#base = `http://127.0.0.1:${options.port}/slurm/${options.version}`;
    this.#token = options.token;
  }

  async ask(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${this.#base}/${path}`, {
      method,
      headers: { 'X-SLURM-USER-TOKEN': this.#token, 'Content-Type': 'application/json' },
      signal: AbortSignal.timeout(60_000),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Answer;
    // The HTTP status means little: the result is in `errors`.
    const [error] = answer.errors ?? [];
    if (error !== undefined)
      throw new Error(`${method} ${path}: ${error.description ?? ''} ${error.error ?? ''}`.trim());
    return answer;
  }

  async submit(script: string, more: object = {}): Promise<number> {
    const job = {
      name: 'from-rest',
      current_working_directory: '/tmp',
      environment: ['PATH=/usr/bin:/bin'],
      ...more,
    };
    const { job_id } = await this.ask('POST', 'job/submit', { script, job });
    if (job_id === undefined) throw new Error('Slurm took the job and did not say its number');
    return job_id;
  }

  /** The state in which a job ended. */
  async end(job: number, timeoutMs = 300_000): Promise<string> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const { jobs } = await this.ask('GET', `job/${job}`);
      const state = jobs?.[0]?.job_state.join(',') ?? 'UNKNOWN';
      if (!/PENDING|RUNNING|COMPLETING|CONFIGURING/.test(state)) return state;
      if (performance.now() > deadline) throw new Error(`job ${job} is still ${state}`);
      await sleep(200, AbortSignal.timeout(5_000));
    }
  }
}
