/**
 * A text as one word for a shell. Entrypoints of slurmd images read their arguments as a shell does: upstream's joins them and hands
 * them to `bash -c`, ours takes quotes off. Without quotes only the first pair of a configuration would reach slurmd.
 */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The text of a word that {@link shellQuoted} made. */
export function shellUnquoted(word: string): string {
  return /^'.*'$/s.test(word) ? word.slice(1, -1).replaceAll(`'\\''`, "'") : word;
}
