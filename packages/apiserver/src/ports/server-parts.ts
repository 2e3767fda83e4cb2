/**
 * Everything a room may reach for. Factories receive it while the server is being put together, so they may keep it
 * but must not use other parts before the first request (or before `start` of CustomResources).
 */
import type { KeyPair } from '@slurm-operator/kubernetes-values';
import type { Registry } from '../registry/registry.ts';
import type { Store } from '../store/store.ts';
import type { Surroundings } from '../types.ts';
import type { AdmissionChain } from './admission-chain.ts';
import type { Authenticator } from './authenticator.ts';
import type { Authorizer } from './authorizer.ts';
import type { CustomResources } from './custom-resources.ts';
import type { FieldManager } from './field-manager.ts';
import type { Routes } from './routes.ts';
import type { SchemaSource } from './schema-source.ts';
import type { TablePrinter } from './table-printer.ts';

export interface ServerParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly surroundings: Surroundings;
  /** The server's own certificate authority. */
  readonly authority: KeyPair;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly admission: AdmissionChain;
  readonly schemas: SchemaSource;
  readonly fieldManager: FieldManager;
  readonly customResources: CustomResources;
  readonly discovery: Routes;
  readonly printer: TablePrinter;
}
