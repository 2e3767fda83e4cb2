/** A copy in an order that follows from the seed alone. */
export function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const copy = [...items];
  let state = seed >>> 0;
  // A linear congruential generator: good enough to change the order, and the same everywhere.
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  for (let last = copy.length - 1; last > 0; last -= 1) {
    const other = Math.floor(next() * (last + 1));
    [copy[last], copy[other]] = [copy[other] as Item, copy[last] as Item];
  }
  return copy;
}
