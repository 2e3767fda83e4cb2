/**
 * Services as nftables rules, rendered as one script that replaces the whole table at once. A packet to a Service
 * address is sent to one of its ready endpoints; the choice sticks per connection, or per client when the Service asks
 * for session affinity. A Service without an endpoint refuses, as a closed port does.
 */
import type { EndpointSlice, Service } from '../objects/objects.ts';

export interface RulesInput {
  readonly table: string;
  readonly services: readonly Service[];
  readonly slicesOf: (service: Service) => readonly EndpointSlice[];
  /** Addresses at which node ports answer. */
  readonly nodeAddresses: readonly string[];
  /** The range of this cluster's pods: only from elsewhere must a source address be rewritten. */
  readonly podRange: string;
  /** Further redirections of a single address and port (the node's own agent). */
  readonly redirects?: readonly { readonly from: string; readonly port: number; readonly to: string }[];
}

interface Target {
  readonly protocol: 'tcp' | 'udp' | 'sctp';
  /** Left side of the match: `ip daddr 10.96.0.1 tcp dport 443`. */
  readonly match: string;
  readonly endpoints: readonly string[];
  readonly sticky: boolean;
}

/** The bit of the packet mark that says: rewrite the source on the way out. */
const masqueradeMark = '0x4000';

export function renderRules(input: RulesInput): string {
  const targets = targetsOf(input);
  const chains: string[] = [];
  const dispatch: string[] = [];
  const refused: string[] = [];
  for (const [index, target] of targets.entries()) {
    if (target.endpoints.length === 0) {
      refused.push(`    ${target.match} reject`);
      continue;
    }
    const chain = `service-${index}`;
    dispatch.push(`    ${target.match} goto ${chain}`);
    chains.push(
      `  chain ${chain} {`,
      `    ip saddr != ${input.podRange} meta mark set meta mark or ${masqueradeMark}`,
    );
    // A pod that reaches itself through a Service must not see its own address as the client.
    for (const endpoint of target.endpoints)
      chains.push(
        `    ip saddr ${endpoint.split(':')[0] ?? ''} meta mark set meta mark or ${masqueradeMark}`,
      );
    chains.push(`    ${balance(target)}`, '  }');
  }
  for (const { from, port, to } of input.redirects ?? [])
    dispatch.unshift(
      `    ip daddr ${from} tcp dport ${port} meta mark set meta mark or ${masqueradeMark} dnat to ${to}`,
    );
  return [
    `table ip ${input.table}`,
    `delete table ip ${input.table}`,
    `table ip ${input.table} {`,
    ...chains,
    '  chain services {',
    ...dispatch,
    '  }',
    // No endpoint: refuse the client at once. Address translation cannot refuse, so this rule comes before it.
    '  chain refused {',
    ...refused,
    '  }',
    '  chain refuse-forwarded {',
    '    type filter hook prerouting priority dstnat - 10; policy accept;',
    '    ct state new jump refused',
    '  }',
    '  chain refuse-own {',
    '    type filter hook output priority -110; policy accept;',
    '    ct state new jump refused',
    '  }',
    '  chain prerouting {',
    '    type nat hook prerouting priority dstnat; policy accept;',
    '    jump services',
    '  }',
    '  chain output {',
    '    type nat hook output priority -100; policy accept;',
    '    jump services',
    '  }',
    '  chain postrouting {',
    '    type nat hook postrouting priority srcnat; policy accept;',
    `    meta mark and ${masqueradeMark} != 0 masquerade`,
    '  }',
    '}',
    '',
  ].join('\n');
}

function balance({ endpoints, sticky, protocol }: Target): string {
  if (endpoints.length === 1) return `meta l4proto ${protocol} dnat to ${endpoints[0] ?? ''}`;
  const choice = sticky ? `jhash ip saddr mod ${endpoints.length}` : `numgen random mod ${endpoints.length}`;
  const map = endpoints
    .map((endpoint, index) => {
      const [address = '', port = ''] = endpoint.split(':');
      return `${index} : ${address} . ${port}`;
    })
    .join(', ');
  return `meta l4proto ${protocol} dnat to ${choice} map { ${map} }`;
}

function targetsOf({ services, slicesOf, nodeAddresses }: RulesInput): Target[] {
  const targets: Target[] = [];
  for (const service of services) {
    const clusterIP = service.spec.clusterIP;
    if (clusterIP === undefined || clusterIP === 'None' || clusterIP === '') continue;
    const slices = slicesOf(service);
    for (const port of service.spec.ports ?? []) {
      const protocol = (port.protocol ?? 'TCP').toLowerCase() as Target['protocol'];
      const endpoints = endpointsOf(slices, port.name ?? '');
      const sticky = service.spec.sessionAffinity === 'ClientIP';
      const add = (match: string) => targets.push({ protocol, match, endpoints, sticky });
      const addresses = [
        clusterIP,
        ...(service.spec.externalIPs ?? []),
        ...(service.status?.loadBalancer?.ingress ?? []).flatMap((entry) => entry.ip ?? []),
      ];
      for (const address of addresses) add(`ip daddr ${address} ${protocol} dport ${port.port}`);
      if (port.nodePort !== undefined && nodeAddresses.length > 0)
        add(`ip daddr { ${nodeAddresses.join(', ')} } ${protocol} dport ${port.nodePort}`);
    }
  }
  return targets;
}

/** Ready endpoints; when there is none, those that still serve while they end. */
function endpointsOf(slices: readonly EndpointSlice[], portName: string): string[] {
  const collect = (
    usable: (conditions: { ready?: boolean; serving?: boolean; terminating?: boolean }) => boolean,
  ) =>
    slices.flatMap((slice) => {
      const port = (slice.ports ?? []).find((entry) => (entry.name ?? '') === portName)?.port;
      if (port === undefined) return [];
      return (slice.endpoints ?? [])
        .filter((endpoint) => usable(endpoint.conditions ?? {}))
        .flatMap((endpoint) => endpoint.addresses.map((address) => `${address}:${port}`));
    });
  const ready = collect((conditions) => conditions.ready !== false);
  const found =
    ready.length > 0
      ? ready
      : collect((conditions) => conditions.serving === true && conditions.terminating === true);
  return [...new Set(found)].toSorted();
}
