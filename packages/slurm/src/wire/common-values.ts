/** What thousands of nodes have in common (their operating system, their partitions, their state) is stored once. */
import { type NodeState, parseNodeState } from '../meaning/node-state.ts';

/** So many different values are remembered; then it starts over, and later ones share among themselves. */
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
