/** The recorded exchanges: their shape on disk and where they lie. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Set when the request was made without the administrator's credentials. */
  readonly client?: string;
}

export interface RecordedStep {
  readonly request?: RecordedRequest;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  readonly events?: readonly unknown[];
  readonly closedAfterStep?: number;
  readonly closedBy?: 'server';
  readonly eventually?: boolean;
  readonly trimmed?: string | boolean;
  readonly note?: string;
  readonly webhookReceived?: string;
}

export interface RecordedCase {
  /** `topic/nn-name`. */
  readonly name: string;
  readonly why: string;
  readonly setup?: readonly {
    readonly method?: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  }[];
  readonly steps: readonly RecordedStep[];
}

const folder = join(import.meta.dirname, '../../testdata/contract');

/** All recorded cases whose name begins with one of the prefixes (all when none is given), in order. */
export function recordedCases(...prefixes: readonly string[]): RecordedCase[] {
  return globSync('*/*.json', { cwd: folder })
    .toSorted()
    .map((file) => corrected(JSON.parse(readFileSync(join(folder, file), 'utf8')) as RecordedCase))
    .filter(({ name }) => prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix)));
}

export function topicOf({ name }: RecordedCase): string {
  return name.split('/')[0] ?? '';
}

/** Earlier recordings that a case builds on. */
export const needs: Readonly<Record<string, readonly string[]>> = {
  'crud/30-method-not-allowed': ['crud/01-create-get'],
  'crud/36-unknown-query': ['crud/01-create-get'],
  'crd/02-object-roundtrip': ['crd/01-create-established'],
  'crd/18-printer-columns': ['crd/01-create-established'],
  'controllers/09-statefulset-pod-replaced': ['controllers/08-statefulset-ordered'],
  'controllers/10-statefulset-update': [
    'controllers/08-statefulset-ordered',
    'controllers/09-statefulset-pod-replaced',
  ],
  'controllers/11-statefulset-scale-down': [
    'controllers/08-statefulset-ordered',
    'controllers/09-statefulset-pod-replaced',
    'controllers/10-statefulset-update',
  ],
  'controllers/12-statefulset-delete': [
    'controllers/08-statefulset-ordered',
    'controllers/09-statefulset-pod-replaced',
    'controllers/10-statefulset-update',
    'controllers/11-statefulset-scale-down',
  ],
  'discovery/07-openapi-v3': ['discovery/06-aggregated-custom'],
};

/**
 * Recordings that contradict themselves, put right while they are read. Only requests are ever changed, and only where
 * the recorded answers leave no doubt about what was sent.
 */
const env = [{ name: 'A', value: '1' }];

type Container = { readonly name: string; env?: unknown };
type StatefulSet = {
  readonly spec: { readonly template: { readonly spec: { readonly containers: Container[] } } };
};

const corrections: Readonly<Record<string, (recorded: RecordedCase) => void>> = {
  // The first answer holds an env that the request as written does not; the third step is the same request without it.
  'apply/21-statefulset': ({ steps }) => {
    const sent = steps[0]?.request?.body as StatefulSet | undefined;
    const [container] = sent?.spec.template.spec.containers ?? [];
    if (container) container.env = env;
  },
};

export function corrected(recorded: RecordedCase): RecordedCase {
  corrections[recorded.name]?.(recorded);
  return recorded;
}
