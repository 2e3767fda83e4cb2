/** The charts, and helm to try them with. */
export { type ChartName, chart } from './chart.ts';
export { findHelm } from './find-helm.ts';
export { Helm, type Manifest } from './helm.ts';
