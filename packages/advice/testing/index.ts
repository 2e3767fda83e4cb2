export { context, flatten, healthy, type KnownValues, withValues } from './healthy.ts';
export * from './objects.ts';
