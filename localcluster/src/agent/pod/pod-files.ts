/** The files the agent itself puts into containers: hosts, resolv.conf, hostname. Pure text. */
import type { Pod } from '../../objects/objects.ts';

export interface DnsConfig {
  readonly clusterDns: string;
  readonly clusterDomain: string;
  /** What the node itself uses, for dnsPolicy Default. */
  readonly nodeResolvConf: string;
}

export const hostnameOf = (pod: Pod, nodeName: string): string =>
  pod.spec.hostNetwork === true ? nodeName : (pod.spec.hostname ?? pod.metadata.name).slice(0, 63);

export function hostsFile(pod: Pod, address: string, nodeName: string, clusterDomain: string): string {
  const hostname = hostnameOf(pod, nodeName);
  const full =
    pod.spec.subdomain === undefined || pod.spec.subdomain === ''
      ? ''
      : `${hostname}.${pod.spec.subdomain}.${pod.metadata.namespace ?? ''}.svc.${clusterDomain}\t`;
  const aliases = (pod.spec.hostAliases ?? []).map(
    (alias) => `${alias.ip}\t${(alias.hostnames ?? []).join('\t')}`,
  );
  return `${[
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::0\tip6-localnet',
    'ff02::1\tip6-allnodes',
    'ff02::2\tip6-allrouters',
    `${address}\t${full}${hostname}`,
    ...aliases,
  ].join('\n')}\n`;
}

export function resolvConf(pod: Pod, dns: DnsConfig): string {
  const policy = pod.spec.dnsPolicy ?? 'ClusterFirst';
  const hostNetwork = pod.spec.hostNetwork === true;
  if (policy === 'Default' || (policy === 'ClusterFirst' && hostNetwork)) return dns.nodeResolvConf;
  const cluster = policy !== 'None';
  const own = pod.spec.dnsConfig;
  const domain = dns.clusterDomain;
  const servers = [...(cluster ? [dns.clusterDns] : []), ...(own?.nameservers ?? [])];
  const searches = [
    ...(cluster ? [`${pod.metadata.namespace ?? ''}.svc.${domain}`, `svc.${domain}`, domain] : []),
    ...(own?.searches ?? []),
  ];
  const options = new Map<string, string | undefined>(cluster ? [['ndots', '5']] : []);
  for (const { name, value } of own?.options ?? []) if (name !== undefined) options.set(name, value);
  const optionWords = [...options].map(([name, value]) => (value === undefined ? name : `${name}:${value}`));
  return `${[
    ...(searches.length === 0 ? [] : [`search ${[...new Set(searches)].join(' ')}`]),
    ...[...new Set(servers)].map((server) => `nameserver ${server}`),
    ...(optionWords.length === 0 ? [] : [`options ${optionWords.join(' ')}`]),
  ].join('\n')}\n`;
}
