import assert from 'node:assert/strict';
import { test } from 'node:test';
import { autoscaleFaults } from './autoscale-faults.ts';
import { plantedFaults, withFault } from './planted-faults.ts';

test('the sources have what each planted fault changes', () => {
  assert.ok(plantedFaults.length > 0);
  for (const fault of [...plantedFaults, ...autoscaleFaults])
    assert.ok(withFault(fault).size > 0, fault.name);
});
