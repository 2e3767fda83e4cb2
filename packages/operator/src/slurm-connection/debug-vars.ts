/** What an administrator may look at in a running operator: who is connected to what. No secret is in it. */
import type { ConnectionFacts, ConnectionPool } from './pool.ts';

export interface DebugVars {
  readonly slurmClients: readonly ConnectionFacts[];
}

export function debugVars(pool: Pick<ConnectionPool, 'describe'>): DebugVars {
  return { slurmClients: pool.describe() };
}
