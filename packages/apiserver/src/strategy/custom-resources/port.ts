/** Keeps the registry in step with the stored CustomResourceDefinitions. */
export interface CustomResources {
  /** Serves what is stored already and follows later changes until stopped. */
  start(): void | Promise<void>;
  stop(): void | Promise<void>;
}
