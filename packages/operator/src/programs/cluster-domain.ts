/** The DNS domain of the Services of the cluster that a program runs in. Pure. */

/** What most clusters use, and what applies outside of a cluster. */
export const usualClusterDomain = 'cluster.local';

/**
 * From the text of a pod's /etc/resolv.conf, whose search list the kubelet writes as `<namespace>.svc.<domain> svc.<domain> <domain>`.
 * Undefined where no such list exists: outside of a cluster, or in a pod with another DNS policy.
 */
export function clusterDomainOf(resolvConf: string): string | undefined {
  const searches = resolvConf
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([keyword]) => keyword === 'search')
    .at(-1)
    ?.slice(1);
  const domain = searches
    ?.find((search) => search.startsWith('svc.'))
    ?.slice('svc.'.length)
    .replace(/\.$/, '');
  return domain !== undefined && isDomain(domain) ? domain : undefined;
}

export const isDomain = (text: string): boolean =>
  text.length <= 200 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text);
