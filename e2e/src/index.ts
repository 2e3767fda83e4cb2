/** What the make targets import from this package. */
export * as demo from './demo/index.ts';
export * as given from './given/index.ts';
