/** What is wrong with the devices that a pod claims, and with what its containers take of them. */

import { dnsLabel } from '@slurm-operator/kubernetes-values';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { FieldFault } from '../../../api/errors.ts';
import { duplicate, invalidValue, required } from '../../../api/fault.ts';

type PodClaims = NonNullable<IPodSpec['resourceClaims']>;

export function resourceClaimFaults(claims: PodClaims, path: string): FieldFault[] {
  return claims.flatMap((claim, index) => {
    const at = `${path}[${index}]`;
    const { name, resourceClaimName, resourceClaimTemplateName } = claim;
    const faults: FieldFault[] = [];
    if (!name) faults.push(required(`${at}.name`));
    else if (claims.findIndex((other) => other.name === name) < index)
      faults.push(duplicate(`${at}.name`, name));
    else faults.push(...dnsLabel(name).map((text) => invalidValue(`${at}.name`, name, text)));
    const shown = {
      Name: name,
      ResourceClaimName: resourceClaimName ?? null,
      ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
    };
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined)
      faults.push(
        invalidValue(
          at,
          shown,
          'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
        ),
      );
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined)
      faults.push(
        invalidValue(at, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'),
      );
    return faults;
  });
}

export function takenClaimFaults(
  claims: readonly { readonly name: string }[],
  ofPod: readonly string[],
  path: string,
): FieldFault[] {
  const seen = new Set<string>();
  const known = ofPod.length === 0 ? ' which is empty' : `: ${ofPod.toSorted().join(', ')}`;
  return claims.flatMap(({ name }, index) => {
    const at = `${path}[${index}]`;
    if (!name) return [required(at)];
    const faults = seen.has(name) ? [duplicate(at, name)] : [];
    seen.add(name);
    if (!ofPod.includes(name))
      faults.push({
        reason: 'FieldValueNotFound',
        field: at,
        message: `Not found: ${JSON.stringify(name)}: must be one of the names in pod.spec.resourceClaims${known}`,
      });
    return faults;
  });
}
