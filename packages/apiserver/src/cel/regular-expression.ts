/** Regular expressions are RE2 in the language; JavaScript's are near enough for what rules use. */
import { CelRuntimeError } from './errors.ts';

const most = 500;
const compiled = new Map<string, RegExp>();

export function regularExpression(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known) return known;
  try {
    const expression = toJavaScript(pattern);
    if (compiled.size >= most) compiled.clear();
    compiled.set(pattern, expression);
    return expression;
  } catch (cause) {
    throw new CelRuntimeError(`error parsing regexp: ${pattern}`, { cause });
  }
}

/** Flags at the front, \A, \z and named groups are written otherwise in RE2. */
function toJavaScript(pattern: string): RegExp {
  const flags = /^\(\?([ims]+)\)/.exec(pattern);
  const body = (flags ? pattern.slice(flags[0].length) : pattern)
    .replaceAll(/\\(.)/gs, (escape, character: string) =>
      character === 'A'
        ? '^'
        : character === 'z'
          ? '$'
          : character === 'Q' || character === 'E'
            ? ''
            : escape,
    )
    .replaceAll('(?P<', '(?<')
    .replaceAll('[[:alpha:]]', '[a-zA-Z]')
    .replaceAll('[[:alnum:]]', '[a-zA-Z0-9]')
    .replaceAll('[[:digit:]]', '[0-9]');
  const written = flags?.[1] ?? '';
  try {
    return new RegExp(body, `u${written}`);
  } catch {
    // Needless escapes such as \- are errors in unicode mode only.
    return new RegExp(body, written);
  }
}
