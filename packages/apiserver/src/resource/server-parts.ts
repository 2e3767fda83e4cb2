/**
 * Everything a room may reach for. Factories receive it while the server is being put together, so they may keep it
 * but must not use other parts before the first request (or before `start` of CustomResources).
 */
import type { KeyPair } from '@slurm-operator/kubernetes-values';
import type { AdmissionChain } from '../admission/admission-attributes.ts';
import type { Surroundings } from '../api/types.ts';
import type { FieldManager } from '../apply/field-manager-request.ts';
import type { Authenticator } from '../authorization/credentials.ts';
import type { Authorizer } from '../authorization/decision.ts';
import type { Routes } from '../discovery/routes.ts';
import type { TablePrinter } from '../response/table/table-column.ts';
import type { Store } from '../store/store.ts';
import type { CustomResources } from '../strategy/custom-resources/port.ts';
import type { Registry } from './registry.ts';
import type { SchemaSource } from './schema-source.ts';

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
