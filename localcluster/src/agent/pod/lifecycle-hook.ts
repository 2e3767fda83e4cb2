/** postStart and preStop: a command in the container, a request to it, or a pause. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Container } from '../../objects/objects.ts';
import { type ProbeResult, type ProbeTarget, runProbe } from '../probes/run-probe.ts';

type Hook = NonNullable<NonNullable<Container['lifecycle']>['preStop']>;

export async function runHook(hook: Hook, target: ProbeTarget, timeoutMs: number): Promise<ProbeResult> {
  if (hook.sleep !== undefined) {
    await delay(Math.min(hook.sleep.seconds * 1000, timeoutMs));
    return { passed: true, message: '' };
  }
  return runProbe(hook, target, timeoutMs);
}
