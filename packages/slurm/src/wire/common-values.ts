/** Interns values that thousands of nodes share: operating system, partitions, state. */
import { type NodeState, parseNodeState } from '../meaning/node-state.ts';

/** Maximum number of interned values; then the map is cleared. */
const most = 4096;

const texts = new Map<string, string>();
const lists = new Map<string, readonly string[]>();
const states = new Map<string, NodeState>();

export function commonText(text: string): string {
  return known(texts, text, () => text);
}

export function commonList(list: readonly string[]): readonly string[] {
  return known(lists, JSON.stringify(list), () => list.map(commonText));
}

export function commonState(names: readonly string[]): NodeState {
  return known(states, JSON.stringify(names), () => parseNodeState(names.map(commonText)));
}

function known<T>(values: Map<string, T>, key: string, make: () => T): T {
  const found = values.get(key);
  if (found !== undefined) return found;
  if (values.size >= most) values.clear();
  const made = make();
  values.set(key, made);
  return made;
}
