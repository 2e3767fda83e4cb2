/** The probes of slurmctld and slurmd ask for /livez at the port that the pod names: settings that take that away end every daemon, with its jobs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aController, aNodeSet } from '../../../testing/objects.ts';
import { topLevelSettings } from '../parse.ts';
import { buildSlurmConf } from './slurm-conf.ts';

const scripts = { prolog: [], epilog: [], prologSlurmctld: [], epilogSlurmctld: [] };
const render = (extraConf: string) =>
  buildSlurmConf({
    controller: aController({ extraConf }),
    accounting: undefined,
    nodeSets: [aNodeSet()],
    scripts,
    image: 'slurmctld:26.05',
  });

test('HTTP stays on: a liveness probe ends every worker after five minutes without it', () => {
  const { text, complaints } = render('CommunicationParameters=NoInAddrAny,disable_http');
  assert.equal(topLevelSettings(text).get('communicationparameters')?.value, 'NoInAddrAny');
  assert.equal(complaints.length, 1);
});

test('the port of slurmd is the one that its pod names', () => {
  const { text, complaints } = render('SlurmdPort=6999');
  assert.equal(topLevelSettings(text).get('slurmdport')?.value, '6818');
  assert.equal(complaints.length, 1);
});
