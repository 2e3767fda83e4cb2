/** What a cluster that is not ready is waiting for, as lines for people. */
export {
  currentCondition,
  gatherEvidence,
  isEverythingReady,
  type ObservedObject,
} from './evidence.ts';
export { notReady } from './not-ready.ts';
export { showLine } from './wait-report.ts';
