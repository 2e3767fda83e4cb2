/** What is wrong with a metadata.name, by the rule of its kind. */
import { dnsLabel, dnsLabel1035, dnsSubdomain } from '@slurm-operator/kubernetes-values';
import type { ResourceDefinition } from '../../resource/resource-definition.ts';

export function nameFaults(rule: ResourceDefinition['nameRule'], name: string): readonly string[] {
  if (typeof rule === 'function') return rule(name);
  switch (rule) {
    case 'label':
      return name.includes('.') ? ['must not contain dots'] : inCharacters(dnsLabel(name));
    case 'service':
      if (name.includes('.')) return ['must not contain dots'];
      return inCharacters(dnsLabel1035(name));
    case 'path':
      return pathSegmentFaults(name);
    default:
      return inCharacters(dnsSubdomain(name));
  }
}

export function pathSegmentFaults(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%']
    .filter((character) => name.includes(character))
    .map((character) => `may not contain '${character}'`);
}

/** Names are counted in characters, labels in bytes. */
function inCharacters(faults: readonly string[]): string[] {
  return faults.map((fault) => fault.replace(/^(must be no more than \d+) bytes$/, '$1 characters'));
}
