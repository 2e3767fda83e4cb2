/**
 * A node:test reporter for the make targets: a line per file, failures in full, skipped tests by name, a progress line while a
 * test takes long, and all of it as JSON in the file that TALLY_FILE names, so that several tiers can be added up.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import type { Failure } from './failures.ts';
import { dim, duration, green, red, yellow } from './terminal.ts';

export interface Tally {
  passed: number;
  failures: Failure[];
  skipped: string[];
  /** What the files with failures wrote themselves, from its end; empty when none failed. */
  said: string;
  /** False while the runner is running: one that was killed has not reported everything. */
  complete: boolean;
}

/** Interval of the progress output. */
const silenceMs = 30_000;
/** What a file said last is the only explanation when it ends without a failed test. */
const keptWords = 12_000;
const wordLines = 30;

type Ended = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>;

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const tally: Tally = { passed: 0, failures: [], skipped: [], said: '', complete: false };
  const running = new Map<string, number>();
  const words = new Map<string, string>();
  for await (const event of withHeartbeats(source)) {
    if (event === 'silence') {
      for (const [name, since] of running)
        yield dim(`  … ${name}, ${duration(performance.now() - since)} so far\n`);
    } else if (event.type === 'test:summary') {
      const { file, success, counts, duration_ms: took } = event.data;
      if (file === undefined) continue;
      running.delete(relative(process.cwd(), file));
      const mark = success ? green('✔') : red('✘');
      yield `  ${mark} ${relative(process.cwd(), file)} ${dim(`${counts.tests} tests, ${duration(took)}`)}\n`;
    } else if (event.type === 'test:dequeue') {
      if (event.data.nesting === 0) running.set(titleOf(event.data), performance.now());
    } else if (event.type === 'test:pass' || event.type === 'test:fail') {
      if (event.data.nesting === 0) running.delete(titleOf(event.data));
      const line = count(event, tally, words);
      if (event.type === 'test:fail') {
        tally.said = words.get(event.data.file ?? '') ?? tally.said;
        save(tally);
      }
      if (line !== '') yield line;
    } else if (event.type === 'test:stderr' || event.type === 'test:stdout') {
      const { file, message } = event.data;
      if (file !== undefined) words.set(file, `${words.get(file) ?? ''}${message}`.slice(-keptWords));
      yield message;
    } else if (event.type === 'test:diagnostic' && event.data.level === 'error') {
      yield `${red(event.data.message)}\n`;
    }
  }
  if (tally.failures.length > 0) tally.said = [...words.values()].join('').slice(-keptWords);
  else tally.said = '';
  tally.complete = true;
  save(tally);
}

/** Adds one ended test to the tally; the answer is what a person should read of it. */
function count(event: Ended, tally: Tally, words: ReadonlyMap<string, string>): string {
  const { data } = event;
  const excuse = data.skip ?? data.todo ?? false;
  if (excuse !== false) {
    const why = typeof excuse === 'string' ? excuse : data.skip === undefined ? 'to do' : '';
    tally.skipped.push(why === '' ? data.name : `${data.name} (${why})`);
    return `  ${yellow('– skipped')} ${data.name} ${dim(why)}\n`;
  }
  if (event.type === 'test:fail') {
    const { error } = event.data.details;
    // A suite or test that failed only because of what is inside it: that has been told.
    if ('failureType' in error && error.failureType === 'subtestsFailed') return '';
    const failure = {
      name: titleOf(data),
      where: `${relative(process.cwd(), data.file ?? '')}:${data.line ?? 0}`,
      error: isFile(data) ? lastOutput(error, words.get(data.file ?? '')) : errorText(error.cause ?? error),
    };
    tally.failures.push(failure);
    return `  ${red('✘')} ${failure.name} ${dim(failure.where)}\n${failure.error}\n`;
  }
  if (data.details.type !== 'suite' && !isFile(data)) tally.passed += 1;
  return '';
}

/** With process isolation a file is itself reported as a test when it ends badly or holds no test. */
function isFile({ name, nesting }: { readonly name: string; readonly nesting: number }): boolean {
  return nesting === 0 && name.startsWith('/');
}

function lastOutput(error: object, said = ''): string {
  const { signal, exitCode } = error as { readonly signal?: string | null; readonly exitCode?: number };
  const how = signal == null ? `with exit code ${exitCode}` : `by ${signal}`;
  return `the file ended ${how}; ${said === '' ? 'it said nothing' : `it said last:\n${said.split('\n').slice(-wordLines).join('\n')}`}`;
}

function errorText(error: unknown): string {
  return typeof error === 'string' ? error : inspect(error);
}

/** Files are named from the root of the repository, tests by their own words. */
function titleOf({ name }: { readonly name: string }): string {
  return name.startsWith('/') ? relative(process.cwd(), name) : name;
}

/** Each time whole: a runner that is killed later has told this much. */
function save(tally: Tally): void {
  const file = process.env['TALLY_FILE'];
  if (file !== undefined) writeFileSync(file, JSON.stringify(tally));
}

/** The events, and `silence` each time that none came for a while. */
async function* withHeartbeats(source: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent | 'silence'> {
  const events = source[Symbol.asyncIterator]();
  let next = events.next();
  for (;;) {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<'silence'>((resolve) => {
      timer = setTimeout(() => resolve('silence'), silenceMs);
      timer.unref();
    });
    const first = await Promise.race([next, silence]);
    clearTimeout(timer);
    if (first === 'silence') yield first;
    else if (first.done === true) return;
    else {
      yield first.value;
      next = events.next();
    }
  }
}
