/** The implementation of `make demo` and `make demo-down`. */

export { operatorValues } from './demo-people.ts';
export { demoValues } from './demo-values.ts';
export { takeGround } from './ground.ts';
export { checkImages } from './missing-images.ts';
export { demoImages, demoNamespace, demoOperatorNamespace, slurmVersion } from './names.ts';
export { clusterName, connect, ownCluster } from './own-cluster.ts';
export { removeDemo } from './remove-demo.ts';
export { type DemoResult, runDemo } from './run-demo.ts';
