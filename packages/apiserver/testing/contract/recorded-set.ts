/**
 * Which recording a case comes from. The second set was recorded after this server was written, without a controller
 * manager except for the topic `controllers` and admission/34, so no controller writes a status in it.
 */
import { type RecordedCase, topicOf } from './case.ts';

export type RecordedSet = 'first' | 'second';

/** The first number of each topic that belongs to the second set. */
const secondFrom: Readonly<Record<string, number>> = {
  crud: 42,
  patch: 21,
  apply: 41,
  'list-watch': 29,
  crd: 30,
  admission: 19,
  authz: 13,
  builtins: 29,
  controllers: 27,
  discovery: 10,
};

export function setOf(recorded: RecordedCase): RecordedSet {
  const number = Number(/\/(\d+)-/.exec(recorded.name)?.[1]);
  return number >= (secondFrom[topicOf(recorded)] ?? Number.POSITIVE_INFINITY) ? 'second' : 'first';
}
