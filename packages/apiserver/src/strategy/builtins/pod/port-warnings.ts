/** Ports that a pod names twice: allowed, but one of them is lost in a strategic patch. */

import type { IContainer } from 'kubernetes-models/v1/Container';

type Port = NonNullable<IContainer['ports']>[number];

interface PlacedContainer {
  readonly container: IContainer;
  readonly place: string;
}

export function portWarnings(containers: readonly PlacedContainer[]): string[] {
  const earlier = new Map<string, { readonly port: Port; readonly place: string }[]>();
  return containers.flatMap(({ container, place: of }) =>
    (container.ports ?? []).flatMap((port, index) => {
      const place = `${of}.ports[${index}]`;
      const key = `${port.containerPort}/${port.protocol}`;
      const others = earlier.get(key) ?? [];
      earlier.set(key, [...others, { port, place }]);
      return others.flatMap((other) => {
        const how = relation(port, other.port);
        return how === undefined ? [] : [`${place}: ${how} port definition with ${other.place}`];
      });
    }),
  );
}

function relation(one: Port, other: Port): string | undefined {
  const [port, otherPort] = [one.hostPort ?? 0, other.hostPort ?? 0];
  const [address, otherAddress] = [one.hostIP ?? '', other.hostIP ?? ''];
  if (port === otherPort && address === otherAddress) return 'duplicate';
  if (port === 0 || otherPort === 0) return 'overlapping';
  return port === otherPort && (address === '') !== (otherAddress === '')
    ? 'dangerously ambiguous'
    : undefined;
}
