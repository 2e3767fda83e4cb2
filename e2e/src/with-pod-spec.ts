/** A NodeSet made from another one: its containers mount volumes of the template, which must stay. */

interface PodSpec {
  readonly volumes?: readonly object[] | null | undefined;
}

/** Fields of the pod replaced, volumes added. */
export function withPodSpec(
  template: { readonly spec?: PodSpec | null | undefined } | undefined,
  change: PodSpec & Readonly<Record<string, unknown>>,
) {
  const volumes = [...(template?.spec?.volumes ?? []), ...(change.volumes ?? [])];
  return {
    ...template,
    spec: { ...template?.spec, ...change, ...(volumes.length > 0 ? { volumes } : {}) },
  };
}
