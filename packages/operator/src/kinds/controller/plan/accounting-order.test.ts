import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountingHold } from './accounting-order.ts';

const [old, recent, nameless] = ['slurm/x:24.11', 'slurm/x:26.05', 'slurm/x:latest'];

for (const { reason, wanted, ctld, dbd, dbdWanted = dbd, updating = false, held } of [
  { reason: 'both are of one version', wanted: recent, ctld: recent, dbd: recent, held: undefined },
  { reason: 'slurmdbd went first', wanted: recent, ctld: old, dbd: recent, held: undefined },
  { reason: 'slurmctld may be older', wanted: old, ctld: old, dbd: recent, held: undefined },
  { reason: 'slurmdbd is older', wanted: recent, ctld: old, dbd: old, held: /Upgrade the Accounting first/ },
  {
    reason: 'slurmdbd is to be newer and is not yet',
    wanted: recent,
    ctld: old,
    dbd: old,
    dbdWanted: recent,
    held: /runs 24\.11/,
  },
  {
    reason: 'slurmdbd is on its way',
    wanted: recent,
    ctld: old,
    dbd: recent,
    updating: true,
    held: /upgrade of slurmctld to Slurm 26\.05 waits until/,
  },
  {
    reason: 'a slurmctld that was upgraded does not wait again',
    wanted: recent,
    ctld: recent,
    dbd: recent,
    updating: true,
    held: undefined,
  },
  {
    reason: 'both start for the first time',
    wanted: recent,
    ctld: undefined,
    dbd: undefined,
    dbdWanted: recent,
    updating: true,
    held: undefined,
  },
  {
    reason: 'both start, and the Accounting is older',
    wanted: recent,
    ctld: undefined,
    dbd: undefined,
    dbdWanted: old,
    held: /Upgrade the Accounting/,
  },
  {
    reason: 'a tag that names no version holds nothing',
    wanted: nameless,
    ctld: old,
    dbd: old,
    held: undefined,
  },
  { reason: 'nor does one of slurmdbd', wanted: recent, ctld: old, dbd: nameless, held: undefined },
] as const)
  test(`${reason}: slurmctld ${held === undefined ? 'goes on' : 'waits'}`, () => {
    const said = accountingHold({
      wanted,
      slurmctld: { image: ctld, updating: false },
      slurmdbd: { name: 'slurm', image: dbd, wanted: dbdWanted ?? recent, updating },
    });
    if (held === undefined) assert.equal(said, undefined);
    else assert.match(said?.message ?? '', held);
  });
