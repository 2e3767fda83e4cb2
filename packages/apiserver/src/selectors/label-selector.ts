/** Label selectors as they stand in URLs: `a=b,c!=d,e in (f,g),h notin (i),j,!k`. */
import { badRequest } from '../errors.ts';

export type LabelRequirement =
  | { readonly key: string; readonly operator: 'exists' | 'absent' }
  | { readonly key: string; readonly operator: 'in' | 'notin'; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: 'gt' | 'lt'; readonly value: number };

export type LabelSelector = readonly LabelRequirement[];

export function parseLabelSelector(text: string): LabelSelector {
  const requirements: LabelRequirement[] = [];
  for (const part of splitOutsideParentheses(text)) {
    const requirement = parseRequirement(part.trim());
    if (requirement === undefined) throw badRequest(`unable to parse requirement: ${part}`);
    requirements.push(requirement);
  }
  return requirements;
}

export function labelsMatch(selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean {
  return selector.every((requirement) => {
    const value = labels[requirement.key];
    switch (requirement.operator) {
      case 'exists':
        return value !== undefined;
      case 'absent':
        return value === undefined;
      case 'in':
        return value !== undefined && requirement.values.includes(value);
      case 'notin':
        return value === undefined || !requirement.values.includes(value);
      case 'gt':
        return value !== undefined && /^-?\d+$/.test(value) && Number(value) > requirement.value;
      default:
        return value !== undefined && /^-?\d+$/.test(value) && Number(value) < requirement.value;
    }
  });
}

function parseRequirement(text: string): LabelRequirement | undefined {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(text);
  if (set) {
    const values = (set[3] ?? '').split(',').map((value) => value.trim());
    return { key: set[1] ?? '', operator: set[2] === 'in' ? 'in' : 'notin', values };
  }
  const compare = /^([^\s!=<>]+)\s*(==|=|!=|>|<)\s*([^\s!=<>,]*)$/.exec(text);
  if (compare) {
    const [, key = '', operator, value = ''] = compare;
    if (operator === '>' || operator === '<')
      return { key, operator: operator === '>' ? 'gt' : 'lt', value: Number(value) };
    return { key, operator: operator === '!=' ? 'notin' : 'in', values: [value] };
  }
  const absent = /^!\s*([^\s!=<>]+)$/.exec(text);
  if (absent) return { key: absent[1] ?? '', operator: 'absent' };
  return /^[^\s!=<>()]+$/.test(text) ? { key: text, operator: 'exists' } : undefined;
}

function splitOutsideParentheses(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  if (text.trim() !== '') parts.push(text.slice(from));
  return parts;
}
