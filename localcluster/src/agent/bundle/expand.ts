/** `$(NAME)` in commands, arguments and values. `$$(NAME)` stays as `$(NAME)`; an unknown name stays as it is. */
export function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\$|\$\(([^()]*)\)/g, (match, name: string | undefined) => {
    if (match === '$$') return '$';
    return variables.get(name ?? '') ?? match;
  });
}
