/** Variables that name the Services a pod may use, as containers have always had them. */
import type { Service } from '../../objects/objects.ts';

export function serviceVariables(
  services: readonly Service[],
  namespace: string,
  links: boolean,
): Map<string, string> {
  const result = new Map<string, string>();
  for (const service of services) {
    const master = service.metadata.namespace === 'default' && service.metadata.name === 'kubernetes';
    if (!master && (!links || service.metadata.namespace !== namespace)) continue;
    const address = service.spec.clusterIP;
    const ports = service.spec.ports ?? [];
    const first = ports[0];
    if (address === undefined || address === '' || address === 'None' || first === undefined) continue;
    const name = service.metadata.name.toUpperCase().replaceAll('-', '_');
    result.set(`${name}_SERVICE_HOST`, address);
    result.set(`${name}_SERVICE_PORT`, String(first.port));
    for (const port of ports) {
      if (port.name !== undefined && port.name !== '')
        result.set(`${name}_SERVICE_PORT_${port.name.toUpperCase().replaceAll('-', '_')}`, String(port.port));
      const protocol = (port.protocol ?? 'TCP').toLowerCase();
      const prefix = `${name}_PORT_${port.port}_${protocol.toUpperCase()}`;
      const url = `${protocol}://${address}:${port.port}`;
      if (port === first) result.set(`${name}_PORT`, url);
      result.set(prefix, url);
      result.set(`${prefix}_PROTO`, protocol);
      result.set(`${prefix}_PORT`, String(port.port));
      result.set(`${prefix}_ADDR`, address);
    }
  }
  return result;
}
