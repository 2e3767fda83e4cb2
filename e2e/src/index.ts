/** What the doors of the repository use of it. */
export * as demo from './demo/index.ts';
export * as given from './given/index.ts';
