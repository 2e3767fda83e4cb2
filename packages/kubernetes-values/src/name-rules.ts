/** The name grammars of the API and the sentences it answers with when a text breaks one. */

const DNS_LABEL_MESSAGE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS_1035_MESSAGE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const DNS_SUBDOMAIN_MESSAGE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED_NAME_MESSAGE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const CONFIG_KEY_MESSAGE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const ENV_NAME_MESSAGE =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;

/** Each rule answers the faults of a text; none means it is fine. */
export type NameRule = (text: string) => string[];

export const dnsLabel: NameRule = (text) => [
  ...tooLongFaults(text, 63),
  ...(LABEL.test(text) ? [] : [DNS_LABEL_MESSAGE]),
];

/** As dnsLabel, but it begins with a letter. */
export const dnsLabel1035: NameRule = (text) => [
  ...tooLongFaults(text, 63),
  ...(LABEL_1035.test(text) ? [] : [DNS_1035_MESSAGE]),
];

export const dnsSubdomain: NameRule = (text) => [
  ...tooLongFaults(text, 253),
  ...(SUBDOMAIN.test(text) ? [] : [DNS_SUBDOMAIN_MESSAGE]),
];

export const configMapKey: NameRule = (text) => {
  const faults = tooLongFaults(text, 253);
  if (!CONFIG_KEY.test(text)) faults.push(CONFIG_KEY_MESSAGE);
  if (text === '.') faults.push("must not be '.'");
  if (text === '..') faults.push("must not be '..'");
  else if (text.startsWith('..')) faults.push("must not start with '..'");
  return faults;
};

/** Label keys, taint keys, reporting controllers: an optional DNS prefix, a slash and a name part. */
export const qualifiedName: NameRule = (text) => {
  const parts = text.split('/');
  const faults: string[] = [];
  if (parts.length > 2)
    return [
      `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  if (prefix === '') faults.push('prefix part must be non-empty');
  else if (prefix !== undefined) faults.push(...dnsSubdomain(prefix).map((fault) => `prefix part ${fault}`));
  if (name === '') faults.push('name part must be non-empty');
  else faults.push(...tooLongFaults(name, 63).map((fault) => `name part ${fault}`));
  if (!NAME_PART.test(name)) faults.push(QUALIFIED_NAME_MESSAGE);
  return faults;
};

export const labelValue: NameRule = (text) => [
  ...tooLongFaults(text, 63),
  ...(text === '' || NAME_PART.test(text)
    ? []
    : [
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      ]),
];

export const environmentName: NameRule = (text) =>
  // Printable ASCII but for "=": everything from the blank to the tilde.
  /^[ -<>-~]+$/.test(text) ? [] : [ENV_NAME_MESSAGE];

/** A port name: short, lower case, with at least one letter. */
export const portName: NameRule = (text) => {
  const faults: string[] = [];
  if (text.length > 15) faults.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(text))
    faults.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(text)) faults.push('must contain at least one letter (a-z)');
  if (text.includes('--')) faults.push('must not contain consecutive hyphens');
  if (/^-|-$/.test(text)) faults.push('must not begin or end with a hyphen');
  return faults;
};

function tooLongFaults(text: string, maximum: number): string[] {
  return text.length > maximum ? [`must be no more than ${maximum} bytes`] : [];
}
