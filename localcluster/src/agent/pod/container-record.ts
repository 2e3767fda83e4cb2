/** What the agent remembers of one container of one pod: enough to decide what to do and to write its status. */
export interface Termination {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: string;
  readonly message?: string;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly containerId: string;
}

export type ContainerState =
  | { readonly is: 'waiting'; readonly reason: string; readonly message?: string }
  | { readonly is: 'running'; readonly startedAt: number; readonly containerId: string }
  | ({ readonly is: 'terminated' } & Termination);

export interface ContainerRecord {
  readonly name: string;
  readonly state: ContainerState;
  readonly last?: Termination;
  readonly restarts: number;
  readonly imageId: string;
  /** The startup probe has passed, or there is none and the container runs. */
  readonly started: boolean;
  /** The readiness probe says yes, or there is none and the container has started. */
  readonly ready: boolean;
  /** Before this moment a crashed container is not started again. */
  readonly notBefore?: number;
  /** The wait that the next crash will cost. */
  readonly backOff?: number;
  /** It ran in a place of the pod that is gone: the node restarted, and with it the pod, init containers first. */
  readonly former?: true;
}

export const newRecord = (name: string): ContainerRecord => ({
  name,
  state: { is: 'waiting', reason: 'ContainerCreating' },
  restarts: 0,
  imageId: '',
  started: false,
  ready: false,
});
