/**
 * Recordings that contradict themselves, put right while they are read. Only requests are ever changed, and only where
 * the recorded answers leave no doubt about what was sent.
 */
import type { RecordedCase } from './case.ts';

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
