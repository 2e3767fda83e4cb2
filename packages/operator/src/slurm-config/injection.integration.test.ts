/**
 * Every string that reaches a file of Slurm's, filled with hostile text 100,000 times and more: the file says what it said
 * before with that string in its one place, or it is not written at all. Checked with an independent parser.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Accounting, Controller } from '@slurm-operator/api';
import fc from 'fast-check';
import { hostileText } from '../../testing/hostile-text.ts';
import { aController, aNodeSet, anAccounting } from '../../testing/objects.ts';
import { readSlurmConf, type Statement } from '../../testing/slurm-conf-reader.ts';
import { buildSlurmdbdConf } from '../kinds/accounting/objects/slurmdbd-conf.ts';
import type { RenderedConf } from './conf-file.ts';
import { buildExternalSlurmConf, buildSlurmConf, type Scripts } from './render/slurm-conf.ts';
import { UnsafeValueError } from './setting.ts';

/** Everything is known, so that nothing hostile is excused by being unknown. */
const words = {
  settings: { has: () => true },
  records: new Set(['partitionname', 'nodename', 'nodeset', 'downnodes', 'frontendname']),
};

const noScripts: Scripts = { prolog: [], epilog: [], prologSlurmctld: [], epilogSlurmctld: [] };
const slurmConf = (
  controller: Controller,
  over: Partial<Parameters<typeof buildSlurmConf>[0]> = {},
): RenderedConf =>
  buildSlurmConf({ controller, accounting: undefined, nodeSets: [], scripts: noScripts, ...over });
/** Made once: a hundred thousand times its defaults would be most of the work. */
const [plainController, plainAccounting, plainSet] = [
  aController(),
  anAccounting(),
  aNodeSet({ partition: { enabled: true } }, { name: 'set' }),
];
const over = <T extends { metadata: object; spec: object }>(
  object: T,
  spec: object,
  metadata: object = {},
): T => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
  spec: { ...object.spec, ...spec },
});
const storage = (part: object) =>
  over(plainAccounting, { storageConfig: { ...plainAccounting.spec.storageConfig, ...part } });
const withAccounting = (accounting: Accounting) => slurmConf(plainController, { accounting });
const script = (part: Partial<Scripts>) => slurmConf(plainController, { scripts: { ...noScripts, ...part } });

/** Each string that has one place: how the file looks with it. */
const places: Record<string, (text: string) => RenderedConf> = {
  'Controller metadata.name': (name) => slurmConf(over(plainController, {}, { name })),
  'Controller metadata.namespace': (namespace) => slurmConf(over(plainController, {}, { namespace })),
  'Controller spec.clusterName': (clusterName) => slurmConf(over(plainController, { clusterName })),
  'Controller spec.externalConfig.host': (host) =>
    buildExternalSlurmConf({
      controller: over(plainController, { external: true, externalConfig: { host, port: 6817 } }),
      accounting: undefined,
    }),
  'Accounting metadata.name, in slurm.conf': (name) => withAccounting(over(plainAccounting, {}, { name })),
  'Accounting metadata.namespace, in slurm.conf': (namespace) =>
    withAccounting(over(plainAccounting, {}, { namespace })),
  'Accounting spec.externalConfig.host': (host) =>
    withAccounting(over(plainAccounting, { external: true, externalConfig: { host, port: 6819 } })),
  'name of a prolog': (file) => script({ prolog: [file] }),
  'name of an epilog': (file) => script({ epilog: [file] }),
  'name of a prolog of slurmctld': (file) => script({ prologSlurmctld: [file] }),
  'name of an epilog of slurmctld': (file) => script({ epilogSlurmctld: [file] }),
  'NodeSet metadata.name': (name) => slurmConf(plainController, { nodeSets: [over(plainSet, {}, { name })] }),
  'NodeSet spec.partition.config': (config) =>
    slurmConf(plainController, { nodeSets: [over(plainSet, { partition: { enabled: true, config } })] }),
  'Accounting metadata.name, in slurmdbd.conf': (name) =>
    buildSlurmdbdConf(over(plainAccounting, {}, { name }), 'p'),
  'Accounting spec.storageConfig.host': (host) => buildSlurmdbdConf(storage({ host }), 'p'),
  'Accounting spec.storageConfig.database': (database) => buildSlurmdbdConf(storage({ database }), 'p'),
  'Accounting spec.storageConfig.username': (username) => buildSlurmdbdConf(storage({ username }), 'p'),
  'password of the database': (password) => buildSlurmdbdConf(plainAccounting, password),
};

const marker = 'Zmarkz';
const read = (text: string): readonly Statement[] => {
  const reading = readSlurmConf(text, words);
  assert.equal(reading.kind, 'taken', 'why' in reading ? `${reading.why} in\n${text}` : '');
  return reading.kind === 'taken' ? reading.statements : [];
};
/** Undefined when the text is refused; anything but a refusal is a fault. */
function rendered(render: (text: string) => RenderedConf, text: string): RenderedConf | undefined {
  try {
    return render(text);
  } catch (error) {
    assert.ok(error instanceof UnsafeValueError, String(error));
    assert.doesNotMatch(error.message, /[\n\r\0]/);
    return undefined;
  }
}

const cases = Math.ceil(90_000 / Object.keys(places).length);
for (const [place, render] of Object.entries(places))
  test(`${place}: ${cases} hostile texts, none leaves its place`, () => {
    const before = read(render(marker).text);
    assert.ok(JSON.stringify(before).includes(marker), 'the string is in the file at all');
    let accepted = 0;
    fc.assert(
      fc.property(hostileText, (text) => {
        const conf = rendered(render, text);
        // Left out altogether, as an empty user name is: then it is not a question of places.
        if (conf === undefined || text === '') return;
        accepted += 1;
        const put = (value: string, by: string) => value.replaceAll(marker, () => by);
        // On the line of a record a user may write as in the file itself: blanks around it go, and so do escapes.
        const written = text.trim().replaceAll(/\\(.)/gs, '$1');
        const expected = before.map(({ key, value, rest = '' }) => [
          key,
          put(value, text),
          put(rest, written).trim(),
        ]);
        const found = read(conf.text).map(({ key, value, rest = '' }) => [key, value, rest.trim()]);
        if (JSON.stringify(found) !== JSON.stringify(expected)) assert.deepEqual(found, expected, conf.text);
      }),
      { numRuns: cases },
    );
    assert.ok(accepted > 0, 'some texts are harmless: otherwise nothing was tried');
  });

const files: Record<
  string,
  {
    readonly render: (extraConf: string) => RenderedConf;
    readonly ours: readonly string[];
    readonly options: Readonly<Record<string, readonly string[]>>;
  }
> = {
  'Controller spec.extraConf': {
    render: (extraConf) => slurmConf(over(plainController, { extraConf })),
    ours: [
      'clustername',
      'slurmctldhost',
      'slurmctldport',
      'slurmctldaddr',
      'slurmuser',
      'statesavelocation',
    ],
    options: {
      authinfo: ['use_client_ids'],
      authaltparameters: ['jwt_key=/etc/slurm/jwt.key'],
      slurmctldparameters: ['enable_configless'],
    },
  },
  'Accounting spec.extraConf': {
    render: (extraConf) => buildSlurmdbdConf(over(plainAccounting, { extraConf }), 'pass'),
    ours: ['dbdhost', 'dbdport', 'slurmuser', 'storagepass'],
    options: { authinfo: ['use_client_ids'], authaltparameters: ['jwt_key=/etc/slurm/jwt.key'] },
  },
};

/** Lines of a user's own may say anything but what is ours alone, and cannot remove what the cluster needs. */
for (const [place, { render, ours, options }] of Object.entries(files))
  test(`${place}: 8000 hostile texts, what is ours stays ours`, () => {
    const own = (statements: readonly Statement[]) => statements.filter(({ key }) => ours.includes(key));
    const before = own(read(render('').text));
    let taken = 0;
    let leftOut = 0;
    fc.assert(
      fc.property(hostileText, hostileText, (one, other) => {
        const conf = rendered(render, `${one}\n${other}`);
        if (conf === undefined) return;
        if (conf.complaints.length > 0) leftOut += 1;
        const reading = readSlurmConf(conf.text, words);
        // What Slurm does not understand it refuses as a whole: the trial finds that out.
        if (reading.kind === 'refused') return;
        taken += 1;
        assert.deepEqual(own(reading.statements), before, conf.text);
        for (const [key, needed] of Object.entries(options)) {
          const last = reading.statements.findLast((statement) => statement.key === key)?.value.split(',');
          for (const option of needed) assert.ok(last?.includes(option), `${key} in\n${conf.text}`);
        }
      }),
      { numRuns: 8000 },
    );
    assert.ok(
      taken > 500 && leftOut > 500,
      `only ${taken} were understood, and in ${leftOut} something was left out`,
    );
  });
