/** Values that are lists of options, `a,b=1,c`: the user's are kept as written, ours are added and win. */

/** Ours win option by option; the order is the user's, then ours. Case is the user's own: some options hold paths. */
export function mergeOptions(user: string, ours: readonly string[]): string {
  const nameOf = (option: string): string => (option.split('=', 1)[0] ?? '').trim().toLowerCase();
  const mandatory = new Set(ours.map(nameOf));
  const kept = user
    .split(',')
    .map((option) => option.trim())
    .filter((option) => option !== '' && !mandatory.has(nameOf(option)));
  return [...kept, ...ours].join(',');
}
