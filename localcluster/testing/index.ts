/** What tests of programs that need a control plane or a container's settings, but no machines, can use. */
export { capabilitiesOf } from '../src/agent/bundle/capabilities.ts';
export { buildEnvironment } from '../src/agent/bundle/environment.ts';
export { buildOciSpec } from '../src/agent/bundle/oci-spec.ts';
export { resolveUser } from '../src/agent/bundle/user.ts';
export type { Container, Pod } from '../src/objects/objects.ts';
export { type ControlPlane, startControlPlane } from './control-plane.ts';
