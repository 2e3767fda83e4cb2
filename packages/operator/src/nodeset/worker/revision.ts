import { createHash } from 'node:crypto';
import type { NodeSet } from '@slurm-operator/api';

/** The parts of a NodeSet whose change makes new workers. */
export function revisionData(nodeSet: NodeSet): string {
  const { template, ordinalPadding, oversubscribeNode, slurmd, extraConf, logfile, ssh } = nodeSet.spec;
  return stableJson({
    spec: { template, ordinalPadding, oversubscribeNode, slurmd, extraConf, logfile, ssh },
  });
}

/** A short name for them, fit for a label. */
export function revisionHash(nodeSet: NodeSet, collisionCount = 0): string {
  return createHash('sha256')
    .update(revisionData(nodeSet))
    .update(String(collisionCount))
    .digest('hex')
    .slice(0, 10);
}

/** JSON with sorted keys: the same content is the same text, in whatever order it was written. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
