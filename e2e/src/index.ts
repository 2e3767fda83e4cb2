/** What the make targets import from this package. */
export * as given from './given/index.ts';
