/** Keeps status.used of ResourceQuotas in step with what is stored. Admission counts for itself; this is for readers. */

import { usedIn } from '../admission/quota-usage.ts';
import { clone, equal } from '../api/json.ts';
import { typed } from '../api/typed.ts';
import type { ServerParts } from '../resource/request-context.ts';

const QUOTAS = '/resourcequotas';

/** Follows all writes. A burst of them in one namespace is counted once, after it. */
export function followQuotas(parts: ServerParts): void {
  const due = new Set<string>();
  parts.store.subscribe(({ object }) => {
    const { namespace } = object.metadata;
    if (namespace === undefined || due.has(namespace) || parts.store.list(QUOTAS, namespace).length === 0)
      return;
    due.add(namespace);
    setImmediate(() => {
      due.delete(namespace);
      writeStatuses(parts, namespace);
    });
  });
}

function writeStatuses(parts: ServerParts, namespace: string): void {
  for (const stored of parts.store.list(QUOTAS, namespace)) {
    const { spec } = typed<{ spec?: { hard?: Record<string, string> } }>(stored);
    const hard = spec?.hard ?? {};
    const usage = usedIn(parts, namespace, Object.keys(hard));
    const used = Object.fromEntries(
      Object.keys(hard).map((name) => {
        const amount = usage.get(name);
        return [name, amount?.toString() ?? '0'];
      }),
    );
    const status = Object.keys(hard).length === 0 ? {} : { hard, used };
    if (equal(stored['status'], status)) continue;
    parts.store.replace(QUOTAS, { ...clone(stored), status }, stored.metadata.resourceVersion ?? '');
  }
}
