/** What every request can reach. */
import type { KeyPair } from '@slurm-operator/kubernetes-values';
import type { ServerEnvironment } from '../api/types.ts';
import type { Authenticator } from '../authorization/authenticator.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { Store } from '../store/store.ts';
import type { Registry } from './registry.ts';

/** What parts of the server read in place of the store and the registry when a test makes them late. */
export interface Caches {
  /** Read by the authorizer and by admission. */
  readonly configuration: Store;
  /** Read by what serves custom resources. */
  readonly definitions: Store;
  /** Read by discovery. */
  readonly registry: Registry;
}

export interface ServerParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly environment: ServerEnvironment;
  /** The server's own certificate authority. */
  readonly authority: KeyPair;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly caches?: Caches;
}
