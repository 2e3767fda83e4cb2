/** String formats that schemas can ask for; unknown formats are not checked. */

import { parseDuration } from '@slurm-operator/kubernetes-values';
import { Cidr, Ip } from '../../cel/ip.ts';

const dateTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const uuid = (version: string): RegExp =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, 'i');
const label = '[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';

function matches(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

const checks: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => dateTime.test(text) && !Number.isNaN(Date.parse(text)),
  datetime: (text) => dateTime.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  duration: (text) => parseDuration(text) !== undefined || /^\d+\s*(w|d|h|m|s|ms|us|ns)$/.test(text),
  ipv4: (text) => Ip.parse(text)?.family === 4,
  ipv6: (text) => Ip.parse(text)?.family === 6,
  cidr: (text) => Cidr.parse(text) !== undefined,
  mac: matches(/^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$/),
  uuid: matches(uuid('[0-9a-f]')),
  uuid3: matches(uuid('3')),
  uuid4: matches(uuid('4')),
  uuid5: matches(uuid('5')),
  byte: matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
  hostname: (text) => text.length <= 255 && new RegExp(`^${label}(\\.${label})*$`).test(text),
  email: matches(/^[^\s@]+@[^\s@]+$/),
  uri: (text) => URL.canParse(text) || text.startsWith('/'),
  'k8s-short-name': matches(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/),
  'k8s-long-name': (text) =>
    text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text),
};

export function fitsFormat(text: string, format: string): boolean {
  return checks[format]?.(text) ?? true;
}
