/** Who is logged in, and what they may do. Buttons follow it; the server checks every request again. */
import type { Right } from '../live/rights.ts';

export interface Me {
  readonly user: string;
  readonly groups: readonly string[];
  readonly clusters: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly slurm:
      | { readonly kind: 'user'; readonly name: string }
      | { readonly kind: 'none'; readonly why: string };
    readonly rights: Partial<Readonly<Record<Right, boolean>>>;
  }[];
}

/** Service accounts have long names; the last part is what people call them. */
export const shortName = (user: string): string =>
  user.startsWith('system:serviceaccount:') ? (user.split(':').at(-1) ?? user) : user;

export function rightsIn(
  me: Me,
  at: { readonly namespace: string; readonly cluster: string },
): Partial<Readonly<Record<Right, boolean>>> {
  return (
    me.clusters.find(({ namespace, name }) => namespace === at.namespace && name === at.cluster)?.rights ?? {}
  );
}
