/**
 * What happened beside the recorded requests, by case: the recording's notes and setup tell it, the replay does it.
 */
import type { Caller } from './backend.ts';
import type { Masks } from './masks.ts';
import type { WebhookStandIn } from './webhook-stand-in.ts';

export interface StageTools {
  readonly caller: Caller;
  readonly masks: Masks;
  /** The answers to the setup, in order. */
  readonly setup: readonly unknown[];
  readonly webhooks: WebhookStandIn;
}

export interface Stage {
  /** Before a step (counted from 1) is sent. */
  before?(step: number, tools: StageTools): Promise<void>;
  /** While the watch of a step is open. */
  during?(step: number, tools: StageTools): Promise<void>;
  /** The body to send in place of the recorded one, where that was cut down. */
  body?(step: number, recorded: unknown): unknown;
  /** Events to compare where their number depends on timing. */
  looseEvents?(
    recorded: readonly unknown[],
    actual: readonly unknown[],
  ): { recorded: readonly unknown[]; actual: readonly unknown[] };
}

const stages: Readonly<Record<string, Stage>> = {};

export function stageOf(name: string): Stage {
  return stages[name] ?? {};
}
