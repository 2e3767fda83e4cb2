/** Nodes: the taint they are born with, addresses of their pods, what is fixed once set. */

import { isIP } from 'node:net';
import { qualifiedName } from '@slurm-operator/kubernetes-values';
import type { INode } from 'kubernetes-models/v1/Node';
import type { FieldFault } from '../../api/errors.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../api/fault.ts';
import { typed } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import type { BuiltinHooks } from './define.ts';

const NOT_READY = 'node.kubernetes.io/not-ready';
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const node = (object: KubeObject) => typed<INode>(object);

export const nodeHooks: BuiltinHooks = {
  default(object) {
    const { spec, status } = node(object);
    if (spec?.podCIDR && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
    if (status?.capacity && !status.allocatable) status.allocatable = { ...status.capacity };
  },
  prepareForCreate(object) {
    // Nothing may be scheduled before something has said that the node is ready.
    const { spec } = node(object);
    if (!spec || spec.taints?.some((taint) => taint.key === NOT_READY && taint.effect === 'NoSchedule'))
      return;
    spec.taints = [...(spec.taints ?? []), { key: NOT_READY, effect: 'NoSchedule' }];
  },
  validate: (object) => taintFaults(node(object)),
  validateUpdate(object, old) {
    const { spec } = node(object);
    const before = node(old).spec;
    const faults = taintFaults(node(object));
    for (const [index, cidr] of (spec?.podCIDRs ?? []).entries())
      if (!isCidr(cidr))
        faults.push(
          invalidValue(
            `spec.podCIDRs[${index}]`,
            cidr,
            'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
          ),
        );
    if (faults.length === 0 && before?.podCIDRs?.length && before.podCIDRs.join() !== spec?.podCIDRs?.join())
      faults.push(
        forbiddenField('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'),
      );
    if (before?.providerID && before.providerID !== spec?.providerID)
      faults.push(
        forbiddenField('spec.providerID', 'node updates may not change providerID except from "" to valid'),
      );
    return faults;
  },
};

function taintFaults({ spec }: INode): FieldFault[] {
  const faults: FieldFault[] = [];
  const taints = spec?.taints ?? [];
  for (const [index, taint] of taints.entries()) {
    const at = `metadata.taints[${index}]`;
    for (const text of qualifiedName(taint.key)) faults.push(invalidValue(`${at}.key`, taint.key, text));
    if (!taint.effect) faults.push(required(`${at}.effect`));
    else if (!EFFECTS.includes(taint.effect))
      faults.push(notSupported(`${at}.effect`, taint.effect, EFFECTS));
    if (taints.findIndex(({ key, effect }) => key === taint.key && effect === taint.effect) < index)
      faults.push(
        duplicate(at, {
          Key: taint.key,
          Value: taint.value ?? '',
          Effect: taint.effect,
          TimeAdded: taint.timeAdded ?? null,
        }),
      );
  }
  return faults;
}

function isCidr(text: string): boolean {
  const [address = '', bits = ''] = text.split('/');
  const family = isIP(address);
  return family !== 0 && /^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}
