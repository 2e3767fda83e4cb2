/** Field selectors as they stand in URLs: `metadata.name=a,status.phase!=Running`. */
import { badRequest } from '../errors.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

export type FieldSelector = readonly FieldRequirement[];

export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = [];
  for (const part of splitUnescaped(text)) {
    if (part === '') continue;
    const found = /^((?:[^!=]|\\.)*?)(==|!=|=)(.*)$/s.exec(part);
    if (found === null) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
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
