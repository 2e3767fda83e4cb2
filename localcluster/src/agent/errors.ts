/** What can go wrong on a node. The code is what `kubectl get pods` shows as the reason. */
export type AgentErrorCode =
  | 'ImagePullBackOff'
  | 'ErrImagePull'
  | 'ErrImageNeverPull'
  | 'InvalidImageName'
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError'
  | 'FailedMount'
  | 'FailedCreatePodSandBox';

export class AgentError extends Error {
  override readonly name = 'AgentError';
  readonly code: AgentErrorCode;
  constructor(code: AgentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
