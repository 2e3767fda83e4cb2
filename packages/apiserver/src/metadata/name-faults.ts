/** What is wrong with a metadata.name, by the rule of its kind. */
import { dnsLabel, dnsSubdomain } from '../builtins/name-rules.ts';
import type { ResourceDefinition } from '../registry/resource-definition.ts';

const rfc1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

export function nameFaults(rule: ResourceDefinition['nameRule'], name: string): readonly string[] {
  if (typeof rule === 'function') return rule(name);
  switch (rule) {
    case 'label':
      return name.includes('.') ? ['must not contain dots'] : inCharacters(dnsLabel(name));
    case 'service':
      if (name.includes('.')) return ['must not contain dots'];
      return [
        ...(name.length > 63 ? ['must be no more than 63 characters'] : []),
        ...(/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name) ? [] : [rfc1035]),
      ];
    case 'path':
      return pathSegmentFaults(name);
    default:
      return inCharacters(dnsSubdomain(name));
  }
}

function pathSegmentFaults(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%']
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
}

/** Names are counted in characters, labels in bytes. */
function inCharacters(faults: readonly string[]): string[] {
  return faults.map((fault) => fault.replace(/^(must be no more than \d+) bytes$/, '$1 characters'));
}
