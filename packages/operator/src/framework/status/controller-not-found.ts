import type { Problem } from './conditions.ts';

interface Refers {
  readonly metadata: { readonly namespace?: string | undefined };
  readonly spec: { readonly controllerRef: { readonly name: string } };
}

/** What an object says whose Controller is not there. */
export const controllerNotFound = ({ metadata, spec }: Refers): Problem => ({
  reason: 'ControllerNotFound',
  message: `spec.controllerRef.name is "${spec.controllerRef.name}"; no such Controller exists in namespace ${metadata.namespace}: create it, or correct the name.`,
});
