/** Replays one recorded case against a server and says the first thing that differs. */
import type { CallAnswer, Caller } from './backend.ts';
import { type RecordedCase, type RecordedRequest, type RecordedStep, topicOf } from './case.ts';
import { firstDifference } from './compare.ts';
import { firstDifferenceAmongOthers } from './list-versions.ts';
import { comesFromAnotherController, withoutRaces } from './loosen.ts';
import type { Markers } from './markers.ts';
import { bindFromServer, Masks } from './masks.ts';
import { OpenWatch } from './open-watch.ts';
import { customGroups, discoveryFollowed, showsKinds, watchCacheFilled } from './readiness.ts';
import { at, reduceBody, reduceEvents } from './reductions.ts';
import { type Stage, stageOf } from './stage.ts';
import { transientReason } from './transient.ts';
import type { WebhookStandIn } from './webhook-stand-in.ts';

export interface ReplayOptions {
  readonly caller: Caller;
  readonly webhooks: WebhookStandIn;
  readonly signal?: AbortSignal;
  /** How long a controller may take, and how long an event may be on its way. */
  readonly patience?: number;
  /** Waits until configuration takes effect; not needed on a server where it does at once. */
  readonly markers?: Markers;
  /** Called for a step that differs; the replay then continues with the next one and returns the first difference at the end. */
  readonly onDifference?: (difference: string) => void;
}

/** The first difference, or undefined when everything was as recorded. */
export async function replay(recorded: RecordedCase, options: ReplayOptions): Promise<string | undefined> {
  const run = new Replay(recorded, options);
  try {
    return await run.all();
  } catch (error) {
    return `step ${run.step}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  } finally {
    run.closeWatches();
  }
}

/** Headers that were recorded. */
const compared = ['warning', 'retry-after', 'www-authenticate', 'allow', 'location', 'content-type'];

class Replay {
  step = 0;
  readonly #case: RecordedCase;
  readonly #caller: Caller;
  readonly #options: ReplayOptions;
  readonly #masks = new Masks();
  readonly #watches: { watch: OpenWatch; step: RecordedStep; index: number; closeAfter: number }[] = [];
  readonly #stage: Stage;
  readonly #patience: number;
  readonly #customGroups: ReadonlySet<string>;
  /** Collections whose watch cache was seen filled. */
  readonly #cached = new Set<string>();

  constructor(recorded: RecordedCase, options: ReplayOptions) {
    this.#case = recorded;
    this.#options = options;
    this.#caller = options.caller;
    this.#patience = options.patience ?? 5000;
    this.#stage = stageOf(recorded.name);
    this.#customGroups = customGroups(recorded);
  }

  async all(): Promise<string | undefined> {
    const answers: unknown[] = [];
    for (const made of this.#case.setup ?? []) {
      const answer = await this.#ask({ method: 'POST', ...made }, { status: 201, body: undefined });
      if (answer.status >= 300) return `setup of ${made.path}: ${answer.status} ${answer.text.slice(0, 300)}`;
      answers.push(parsed(answer.text));
    }
    await this.#settled();
    let first: string | undefined;
    for (const [index, step] of this.#case.steps.entries()) {
      this.step = index + 1;
      await this.#stage.before?.(this.step, {
        caller: this.#caller,
        masks: this.#masks,
        setup: answers,
        recorded: this.#case,
        webhooks: this.#options.webhooks,
      });
      const found = (await this.#one(step)) ?? (await this.#closeDue());
      if (found === undefined) continue;
      const difference = `step ${this.step}${at(step, 'request') === undefined ? '' : ` ${step.request?.method} ${step.request?.path}`}: ${found}`;
      if (this.#options.onDifference === undefined) return difference;
      this.#options.onDifference(difference);
      first ??= difference;
    }
    return first;
  }

  closeWatches(): void {
    for (const { watch } of this.#watches) watch.close();
  }

  /** Custom kinds made in the setup must be served before the first step asks for them. */
  async #settled(): Promise<void> {
    for (const made of this.#case.setup ?? []) {
      if (!made.path.endsWith('/customresourcedefinitions')) continue;
      const name = String(at(made.body, 'metadata', 'name'));
      await this.#until(async () => {
        const answer = await this.#caller.call({ method: 'GET', path: `${made.path}/${name}` });
        const conditions = at(parsed(answer.text), 'status', 'conditions');
        const established =
          Array.isArray(conditions) &&
          conditions.some((one) => at(one, 'type') === 'Established' && at(one, 'status') === 'True');
        return established ? undefined : 'the CRD of the setup is not established';
      });
    }
  }

  async #one(step: RecordedStep): Promise<string | undefined> {
    if (step.webhookReceived !== undefined) return this.#webhook(step);
    if (step.request === undefined) return undefined;
    await bindFromServer(this.#caller, this.#masks, step.request);
    if (this.#options.markers !== undefined && showsKinds(step.request.path))
      await discoveryFollowed(this.#caller, this.#customGroups);
    if (step.events !== undefined) return this.#watch(step);
    if (step.eventually === true || comesFromAnotherController(this.#case.name, this.step))
      return this.#until(() => this.#exchange(step));
    return this.#exchange(step);
  }

  /** Asks until the answer is final, and returns when what was written takes effect. */
  async #ask(
    request: RecordedRequest,
    recorded: { readonly status: number | undefined; readonly body: unknown },
  ): Promise<CallAnswer> {
    const { method, path } = request;
    const expected = { method, path, ...recorded, customGroups: this.#customGroups };
    const prepared = this.#prepared(request);
    const deadline = performance.now() + this.#patience;
    for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
      const answer = await this.#caller.call(prepared);
      const waitsFor = transientReason(expected, answer);
      if (waitsFor !== undefined && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, pause));
        continue;
      }
      const wrote = method !== 'GET' && answer.status < 300 && !path.includes('dryRun');
      if (wrote) await this.#options.markers?.settle(prepared.path);
      return waitsFor === undefined ? answer : { ...answer, text: `${answer.text} (still: ${waitsFor})` };
    }
  }

  async #exchange(step: RecordedStep): Promise<string | undefined> {
    if (step.request === undefined) return undefined;
    const answer = await this.#ask(step.request, { status: step.status, body: step.body });
    const head = this.#headDifference(step, answer);
    if (head !== undefined) return `${head}; the body: ${answer.text.slice(0, 700)}`;
    const { controllers } = this.#caller.backend;
    const reduced = reduceBody(topicOf(this.#case), step, parsed(answer.text), controllers);
    const lasting = this.#stage.lasting?.(this.step);
    const compare = (body: unknown): unknown => {
      const steady = controllers ? withoutRaces(this.#case.name, this.step, body) : body;
      return lasting === undefined ? steady : keepOnly(steady, lasting);
    };
    const [recorded, actual] = [compare(reduced.recorded), compare(reduced.actual)];
    if (recorded === undefined && actual === '') return undefined;
    return this.#compare(recorded, actual, '$');
  }

  /** Where controllers run, others write between two steps. */
  #compare(recorded: unknown, actual: unknown, path: string): string | undefined {
    const compare = this.#caller.backend.controllers ? firstDifferenceAmongOthers : firstDifference;
    return compare(recorded, actual, this.#masks, path);
  }

  #headDifference(step: RecordedStep, answer: Pick<CallAnswer, 'status' | 'headers'>): string | undefined {
    if (answer.status !== step.status) return `status ${answer.status}, recorded was ${step.status}`;
    for (const name of compared) {
      const recorded = [step.headers?.[name] ?? []].flat();
      const actual = (answer.headers[name] ?? []).filter(
        (value) => !(name === 'content-type' && value === 'application/json'),
      );
      const found = firstDifference(recorded, actual, this.#masks, `header ${name}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #watch(step: RecordedStep): Promise<string | undefined> {
    if (step.request === undefined) return undefined;
    const { watch, head } = await this.#open(step);
    const found = this.#headDifference(step, head);
    if (found !== undefined) return found;
    if (step.closedBy === 'server') {
      await this.#stage.during?.(this.step, {
        caller: this.#caller,
        masks: this.#masks,
        setup: [],
        recorded: this.#case,
        webhooks: this.#options.webhooks,
      });
      const seconds = Number(/timeoutSeconds=(\d+)/.exec(step.request.path)?.[1] ?? '0');
      // The server may also end it because of a later step; then it is looked at after the last one.
      if (seconds === 0) {
        this.#watches.push({ watch, step, index: this.step, closeAfter: this.#case.steps.length });
        return undefined;
      }
      const ended = await watch.endsWithin(seconds * 1000 + this.#patience);
      if (!ended) return 'the server did not end the watch';
      return this.#eventDifference(step, watch);
    }
    this.#watches.push({ watch, step, index: this.step, closeAfter: step.closedAfterStep ?? this.step });
    return undefined;
  }

  /** On a server that is not known to be ready, only when its watch cache is. */
  async #open(step: RecordedStep) {
    const request = this.#prepared(step.request ?? { method: 'GET', path: '' });
    const collection = request.path.split('?')[0] ?? '';
    if (this.#options.markers !== undefined && step.status === 200 && !this.#cached.has(collection)) {
      await watchCacheFilled(this.#caller, collection);
      this.#cached.add(collection);
    }
    const watch = new OpenWatch(this.#caller, request);
    return { watch, head: await watch.opened() };
  }

  async #closeDue(): Promise<string | undefined> {
    for (const one of this.#watches.filter(({ closeAfter }) => closeAfter <= this.step)) {
      this.#watches.splice(this.#watches.indexOf(one), 1);
      await this.#until(() =>
        Promise.resolve(one.watch.events.length >= (one.step.events ?? []).length ? undefined : 'waiting'),
      );
      // Events are sent before the write is answered, so one more round trip brings any that should not be there.
      await this.#caller.call({ method: 'GET', path: '/readyz' });
      const found = this.#eventDifference(one.step, one.watch);
      const ended = one.step.closedBy !== 'server' || (await one.watch.endsWithin(this.#patience));
      one.watch.close();
      if (found !== undefined) return `watch of step ${one.index}: ${found}`;
      if (!ended) return `watch of step ${one.index}: the server did not end it`;
    }
    return undefined;
  }

  #eventDifference(step: RecordedStep, watch: OpenWatch): string | undefined {
    const { recorded, actual } = reduceEvents(topicOf(this.#case), step, watch.events);
    const loose = this.#stage.looseEvents?.(recorded as readonly unknown[], actual as readonly unknown[]);
    return this.#compare(loose?.recorded ?? recorded, loose?.actual ?? actual, 'events');
  }

  #webhook(step: RecordedStep): string | undefined {
    const path = step.webhookReceived ?? '';
    const review = this.#options.webhooks.next(path);
    if (review === undefined) return `the webhook got nothing at ${path}`;
    const seen: unknown = JSON.parse(this.#caller.names.incoming(JSON.stringify(review)));
    return firstDifference(step.body, seen, this.#masks);
  }

  #prepared(request: RecordedRequest) {
    const fill = (text: string) => this.#options.webhooks.fill(this.#masks.fill(text));
    const body = request.body === undefined ? undefined : fillDeep(request.body, fill);
    return {
      method: request.method,
      path: fill(request.path),
      ...(request.headers === undefined
        ? {}
        : { headers: fillDeep(request.headers, fill) as Record<string, string> }),
      ...(body === undefined ? {} : { body: this.#stage.body?.(this.step, body) ?? body }),
      anonymous: request.client !== undefined,
      ...(this.#options.signal === undefined ? {} : { signal: this.#options.signal }),
    };
  }

  /** Asks again until nothing differs; the last difference when patience is over. */
  async #until(ask: () => Promise<string | undefined>): Promise<string | undefined> {
    const deadline = Date.now() + this.#patience;
    for (;;) {
      const forget = this.#masks.snapshot();
      const found = await ask();
      if (found === undefined || Date.now() > deadline) return found;
      forget();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

function keepOnly(value: unknown, fields: readonly string[]): unknown {
  // Their order follows generated names, which are others at each run.
  if (Array.isArray(value))
    return value
      .map((item) => keepOnly(item, fields))
      .toSorted((a, b) =>
        JSON.stringify(at(a, 'annotations')) < JSON.stringify(at(b, 'annotations')) ? -1 : 1,
      );
  return Object.fromEntries(fields.map((field) => [field, at(value, field)]));
}

function fillDeep(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((item) => fillDeep(item, fill));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [fill(key), fillDeep(item, fill)]));
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
