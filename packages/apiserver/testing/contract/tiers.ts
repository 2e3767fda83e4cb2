/** What a backend must have for a case: only an API server, controllers beside it, or controllers that mind nodes. */
import { type RecordedCase, topicOf } from './case.ts';

export type Tier = 'api' | 'controllers' | 'nodes';

export const tiers: readonly Tier[] = ['api', 'controllers', 'nodes'];

/** Cases about Nodes that are lost, or that pods name and that do not exist. */
const aboutNodes = /^controllers\/2[456]-/;

export function tierOf(recorded: RecordedCase): Tier {
  if (aboutNodes.test(recorded.name)) return 'nodes';
  return topicOf(recorded) === 'controllers' ? 'controllers' : 'api';
}
