import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planReservation, type ReservationInput, type Window } from './reservation.ts';

const now = 1_000_000;
const window: Window = {
  name: 'SlurmOperatorMaint-w',
  startsAt: now + 60_000,
  minutes: 30,
  flags: ['MAINT', 'IGNORE_JOBS'],
};
const live = { name: window.name, startsAt: window.startsAt, endsAt: undefined, nodes: new Set(['w-0']) };
const base: ReservationInput = { wanted: window, live: undefined, made: undefined, nodes: ['w-0'] };

test('a window is created once, updated with its nodes, and deleted when no longer requested', () => {
  const cases: { reason: string; input: Partial<ReservationInput>; kind: string }[] = [
    { reason: 'it is to come', input: {}, kind: 'write' },
    { reason: 'no node has registered yet', input: { nodes: [] }, kind: 'none' },
    { reason: 'it is there', input: { live }, kind: 'none' },
    { reason: 'a node joined', input: { live, nodes: ['w-0', 'w-1'] }, kind: 'write' },
    { reason: 'its start was moved', input: { live: { ...live, startsAt: now + 5_000 } }, kind: 'write' },
    {
      reason: 'while it is active its start stays',
      input: { live: { ...live, startsAt: now - 5_000 } },
      kind: 'none',
    },
    {
      reason: 'Slurm moved a recurring one',
      input: { wanted: { ...window, flags: ['DAILY'] }, live: { ...live, startsAt: now + 86_400_000 } },
      kind: 'none',
    },
    {
      reason: 'upstream item 14: one that was used is not made again',
      input: { made: { name: window.name, startsAt: window.startsAt, certain: true } },
      kind: 'none',
    },
    {
      reason: 'upstream item 23: one of another NodeSet of the same name is not taken over',
      input: { live: { ...live, nodes: new Set(['x-0']) } },
      kind: 'conflict',
    },
    {
      reason: 'ours, whose nodes have all been replaced by others',
      input: {
        live: { ...live, nodes: new Set(['x-0']) },
        made: { name: window.name, startsAt: window.startsAt, certain: true },
      },
      kind: 'write',
    },
    {
      reason: 'a new start is a new window',
      input: { made: { name: window.name, startsAt: 5, certain: true } },
      kind: 'write',
    },
    {
      reason: 'a start in the past is not made',
      input: { wanted: { ...window, startsAt: now - 1 } },
      kind: 'none',
    },
    {
      reason: 'unless it is forced',
      input: { wanted: { ...window, startsAt: now - 1, flags: ['FORCE_START'] } },
      kind: 'write',
    },
    {
      reason: 'upstream item 38: nothing to delete, nothing done',
      input: { wanted: undefined },
      kind: 'none',
    },
    {
      reason: 'no longer wanted',
      input: { wanted: undefined, made: { name: window.name, startsAt: 1, certain: true } },
      kind: 'delete',
    },
    {
      reason: 'one that was about to be made, and is not there, is made',
      input: { made: { ...window, certain: false } },
      kind: 'write',
    },
    {
      reason: 'one that was about to be made, and is there, goes when it is no longer wanted',
      input: { wanted: undefined, live, made: { ...window, certain: false } },
      kind: 'delete',
    },
    {
      reason: 'but not where it is for nodes of others',
      input: {
        wanted: undefined,
        live: { ...live, nodes: new Set(['x-0']) },
        made: { ...window, certain: false },
      },
      kind: 'none',
    },
  ];
  for (const { reason, input, kind } of cases)
    assert.equal(planReservation({ ...base, ...input }, now).kind, kind, reason);
});
