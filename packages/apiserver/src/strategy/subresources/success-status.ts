/** The Status object of an action that was done. */
import type { KubeObject } from '../../api/types.ts';

export function successStatus(code: number): KubeObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code };
}
