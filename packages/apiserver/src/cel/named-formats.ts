/** Formats a rule can name: `format.dns1123Label().validate(self)`. */
import { Format } from './values.ts';

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

function matching(pattern: string, longest: number, sentence: string): (text: string) => string[] {
  const expression = new RegExp(`^(?:${pattern})$`);
  return (text) => {
    const faults: string[] = [];
    if (text.length > longest) faults.push(`must be no more than ${longest} characters`);
    if (!expression.test(text)) faults.push(sentence);
    return faults;
  };
}

const labelRule = matching(label, 63, `a lowercase RFC 1123 label must match '${label}'`);
const subdomainRule = matching(
  `${label}(\\.${label})*`,
  253,
  `a lowercase RFC 1123 subdomain must match '${label}(\\.${label})*'`,
);
const label1035Rule = matching(
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  63,
  "a DNS-1035 label must match '[a-z]([-a-z0-9]*[a-z0-9])?'",
);

/** A prefix may end in a dash: something is put behind it. */
function asPrefix(rule: (text: string) => string[]): (text: string) => string[] {
  return (text) => rule(text.endsWith('-') ? `${text.slice(0, -1)}a` : text);
}

const rules: Readonly<Record<string, (text: string) => string[]>> = {
  dns1123Label: labelRule,
  dns1123LabelPrefix: asPrefix(labelRule),
  dns1123Subdomain: subdomainRule,
  dns1123SubdomainPrefix: asPrefix(subdomainRule),
  dns1035Label: label1035Rule,
  dns1035LabelPrefix: asPrefix(label1035Rule),
  qualifiedName: matching(
    `(${label}(\\.${label})*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]`,
    317,
    'must be a qualified name: an optional DNS subdomain and a slash, then a name',
  ),
  labelValue: matching('(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?', 63, 'must be a valid label value'),
  uri: (text) => (URL.canParse(text) || text.startsWith('/') ? [] : ['invalid URI for request']),
  uuid: matching(
    '[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}',
    36,
    'does not match the UUID format',
  ),
  byte: (text) =>
    /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text) ? [] : ['invalid base64'],
  date: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? [] : ['invalid date']),
  datetime: (text) =>
    /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text))
      ? []
      : ['invalid datetime'],
};

export function namedFormat(name: string): Format | undefined {
  const rule = rules[name];
  return rule && new Format(name, rule);
}
