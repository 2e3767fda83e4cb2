/** Field selectors as they are written in URLs: `metadata.name=a,status.phase!=Running`. Pure. */
import { SelectorError } from './parse-label-selector.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/** Throws a `SelectorError` in the words of the real server. */
export function parseFieldSelector(text: string): readonly FieldRequirement[] {
  const requirements: FieldRequirement[] = [];
  for (const part of splitUnescaped(text)) {
    if (part === '') continue;
    const found = /^((?:[^!=]|\\.)*?)(==|!=|=)(.*)$/s.exec(part);
    if (found === null) throw new SelectorError(`invalid selector: '${text}'; can't understand '${part}'`);
    requirements.push({
      field: found[1] ?? '',
      equal: found[2] !== '!=',
      value: unescape(found[3] ?? ''),
    });
  }
  return requirements;
}

function splitUnescaped(text: string): string[] {
  const parts: string[] = [];
  let current = '';
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\' && at + 1 < text.length) {
      current += `\\${text[at + 1]}`;
      at += 1;
    } else if (text[at] === ',') {
      parts.push(current);
      current = '';
    } else current += text[at];
  }
  parts.push(current);
  return parts;
}

function unescape(value: string): string {
  return value.replaceAll(/\\([\\,=])/g, '$1');
}
