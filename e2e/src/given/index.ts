/** What `make test TIER=cluster` uses of it. */
export { type GivenRun, openGivenRun } from './given-run.ts';
