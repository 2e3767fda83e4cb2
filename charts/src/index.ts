export { type ChartName, chart } from './chart.ts';
export { type FindHelmOptions, findHelm, helmVersion } from './find-helm.ts';
export { Helm, type Manifest } from './helm.ts';
