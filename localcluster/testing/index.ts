/** What tests of programs that need a control plane, but no machines, can use. */
export { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane.ts';
