import type { ApiVersion } from '../connection/api-version.ts';
import type { Adapter } from './adapter.ts';
import { adapter41 } from './v0.0.41.ts';
import { adapter42 } from './v0.0.42.ts';
import { adapter43 } from './v0.0.43.ts';
import { adapter44 } from './v0.0.44.ts';
import { adapter45 } from './v0.0.45.ts';

/** The adapter of each API version. */
export const adapters: Readonly<Record<ApiVersion, Adapter>> = {
  'v0.0.41': adapter41,
  'v0.0.42': adapter42,
  'v0.0.43': adapter43,
  'v0.0.44': adapter44,
  'v0.0.45': adapter45,
};
