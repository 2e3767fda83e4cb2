/** NetworkPolicies: defaults and rules. */

import { isIP } from 'node:net';
import { portName } from '@slurm-operator/kubernetes-values';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import type { INetworkPolicyPeer } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyPeer';
import type { INetworkPolicyPort } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicyPort';
import type { FieldFault } from '../../api/errors.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../api/fault.ts';
import { typed } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import type { BuiltinHooks } from './define.ts';
import { validateLabelSelector } from './label-selector-rules.ts';
import { PORT_RANGE } from './pod/validate-probe.ts';

const CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
const directions: ('Ingress' | 'Egress')[] = ['Ingress', 'Egress'];

const policy = (object: KubeObject) => typed<INetworkPolicy>(object).spec;

export const networkPolicyHooks: BuiltinHooks = {
  default(object) {
    const spec = policy(object);
    if (!spec) return;
    for (const { ports = [] } of [...(spec.ingress ?? []), ...(spec.egress ?? [])])
      for (const port of ports) port.protocol ??= 'TCP';
    if (!spec.policyTypes?.length) spec.policyTypes = spec.egress?.length ? [...directions] : ['Ingress'];
  },
  validate(object) {
    const spec = policy(object);
    if (!spec) return [];
    return [
      ...validateLabelSelector(spec.podSelector, 'spec.podSelector'),
      ...(spec.ingress ?? []).flatMap(({ ports = [], from = [] }, index) =>
        ruleFaults(ports, from, `spec.ingress[${index}]`, 'from'),
      ),
      ...(spec.egress ?? []).flatMap(({ ports = [], to = [] }, index) =>
        ruleFaults(ports, to, `spec.egress[${index}]`, 'to'),
      ),
      ...typeFaults(spec.policyTypes ?? []),
    ];
  },
};

function typeFaults(types: readonly string[]): FieldFault[] {
  const path = 'spec.policyTypes';
  if (types.length > directions.length)
    return [invalidValue(path, types, 'may not specify more than two policyTypes')];
  return types.flatMap((type, index) =>
    (directions as string[]).includes(type)
      ? []
      : [notSupported(`${path}[${index}]`, type, directions.toSorted())],
  );
}

function ruleFaults(
  ports: readonly INetworkPolicyPort[],
  peers: readonly INetworkPolicyPeer[],
  path: string,
  peersField: string,
): FieldFault[] {
  return [
    ...ports.flatMap((port, index) => portFaults(port, `${path}.ports[${index}]`)),
    ...peers.flatMap((peer, index) => peerFaults(peer, `${path}.${peersField}[${index}]`)),
  ];
}

function portFaults({ protocol, port, endPort }: INetworkPolicyPort, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  if (protocol !== undefined && !['SCTP', 'TCP', 'UDP'].includes(protocol))
    faults.push(notSupported(`${path}.protocol`, protocol, ['SCTP', 'TCP', 'UDP']));
  const refuseEnd = (why: string) => {
    if (endPort !== undefined) faults.push(invalidValue(`${path}.endPort`, endPort, why));
  };
  if (port === undefined) refuseEnd('may not be specified when `port` is not specified');
  else if (typeof port === 'string') {
    refuseEnd('may not be specified when `port` is non-numeric');
    faults.push(...portName(port).map((text) => invalidValue(`${path}.port`, port, text)));
  } else {
    if (outOfRange(port)) faults.push(invalidValue(`${path}.port`, port, PORT_RANGE));
    if (endPort !== undefined && endPort < port)
      faults.push(invalidValue(`${path}.endPort`, port, 'must be greater than or equal to `port`'));
    if (endPort !== undefined && outOfRange(endPort)) refuseEnd(PORT_RANGE);
  }
  return faults;
}

function peerFaults(
  { podSelector, namespaceSelector, ipBlock }: INetworkPolicyPeer,
  path: string,
): FieldFault[] {
  const faults = [
    ...validateLabelSelector(podSelector, `${path}.podSelector`),
    ...validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`),
  ];
  if (ipBlock) {
    if (!ipBlock.cidr) faults.push(required(`${path}.ipBlock.cidr`));
    else if (!isCidr(ipBlock.cidr)) faults.push(invalidValue(`${path}.ipBlock.cidr`, ipBlock.cidr, CIDR));
    for (const [index, except] of (ipBlock.except ?? []).entries())
      if (!isCidr(except)) faults.push(invalidValue(`${path}.ipBlock.except[${index}]`, except, CIDR));
  }
  const selects = podSelector !== undefined || namespaceSelector !== undefined;
  if (!selects && !ipBlock) faults.push(required(path, 'must specify a peer'));
  else if (selects && ipBlock)
    faults.push(forbiddenField(path, 'may not specify both ipBlock and another peer'));
  return faults;
}

function outOfRange(port: number): boolean {
  return port < 1 || port > 65_535;
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  const family = isIP(address);
  return more.length === 0 && family !== 0 && /^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}
