/** What a handler answers; encoding (JSON, YAML, Table, metadata only) comes later. */

import type { KubeObject } from '../api/types.ts';
import type { ResourceDefinition } from './resource-definition.ts';

/** One object or a list of a resource; may be asked for as Table or PartialObjectMetadata. */
export interface ObjectAnswer {
  readonly type: 'object';
  readonly status: number;
  readonly object: KubeObject;
  /** Set when the object is of this resource, so that Table and metadata-only output make sense. */
  readonly definition?: ResourceDefinition;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A list whose items are encoded one by one. */
export interface ListAnswer {
  readonly type: 'list';
  readonly status: number;
  readonly definition: ResourceDefinition;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly items: readonly KubeObject[];
}

export interface TextAnswer {
  readonly type: 'text';
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that writes itself, such as a watch. Resolves when it is over. */
export interface StreamAnswer {
  readonly type: 'stream';
  readonly contentType: string;
  run(sink: StreamSink): Promise<void>;
}

export interface StreamSink {
  /** False when the client reads too slowly; the writer should give up soon. */
  write(text: string): boolean;
  readonly signal: AbortSignal;
  /** Bytes waiting for the client to read them. */
  readonly pending: number;
}

export type Answer = ObjectAnswer | ListAnswer | TextAnswer | StreamAnswer;
