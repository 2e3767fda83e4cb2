/** Requests that are not on a resource: discovery, OpenAPI, version, health. */
import type { Answer } from '../resource/answer.ts';
import type { RequestContext } from '../resource/request-context.ts';

export interface Routes {
  /** The answer, or undefined when the path is not one of these. */
  answer(context: RequestContext): Answer | undefined | Promise<Answer | undefined>;
}
