/** What is wrong with the status of a Service: the addresses that its load balancer has. */

import { isIP } from 'node:net';
import { dnsSubdomain } from '@slurm-operator/kubernetes-values';
import type { IService } from 'kubernetes-models/v1/Service';
import type { FieldFault } from '../../../api/errors.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../../../api/fault.ts';
import { typed } from '../../../api/typed.ts';
import type { ResourceHooks } from '../../../resource/resource-definition.ts';

const PATH = 'status.loadBalancer.ingress';
const IP_ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

type Ingress = NonNullable<NonNullable<NonNullable<IService['status']>['loadBalancer']>['ingress']>[number];

export const serviceStatusHooks: Pick<ResourceHooks, 'validate'> = {
  validate(object) {
    const { spec, status } = typed<IService>(object);
    const ingress = status?.loadBalancer?.ingress ?? [];
    if (ingress.length > 0 && spec?.type !== 'LoadBalancer')
      return [forbiddenField(PATH, 'may only be used when `spec.type` is "LoadBalancer"')];
    return ingress.flatMap((one, index) => ingressFaults(one, `${PATH}[${index}]`));
  },
};

function ingressFaults({ ip, hostname, ipMode }: Ingress, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  if (ip && isIP(ip) === 0) faults.push(invalidValue(`${path}.ip`, ip, IP_ADDRESS));
  if (ip && ipMode === undefined)
    faults.push(required(`${path}.ipMode`, 'must be specified when `ip` is set'));
  else if (!ip && ipMode !== undefined)
    faults.push(forbiddenField(`${path}.ipMode`, 'may not be specified when `ip` is not set'));
  else if (ipMode !== undefined && !['Proxy', 'VIP'].includes(ipMode))
    faults.push(notSupported(`${path}.ipMode`, ipMode, ['Proxy', 'VIP']));
  if (hostname) {
    for (const text of dnsSubdomain(hostname)) faults.push(invalidValue(`${path}.hostname`, hostname, text));
    if (isIP(hostname) !== 0)
      faults.push(invalidValue(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address'));
  }
  return faults;
}
