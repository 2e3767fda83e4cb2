/** Stages for tests of the dashboard in this package and in a browser. */
export { type StageOptions, startDashboard } from './dashboard-stage.ts';
export { populate, sampleObjects, samplePlan, sampleTemplates } from './sample-cluster.ts';
