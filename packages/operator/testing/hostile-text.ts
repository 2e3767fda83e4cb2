/** Text that tries to leave its place in a configuration file. */
import fc from 'fast-check';

/** What ends, joins, comments or quotes a line of a configuration file. */
export const lineTricks = ['\n', '\r', '\r\n', '\\', '\\\\', '\\\n', '\\ \n', '#', '\\#', '"'];

const fragments = [
  ...lineTricks,
  "'",
  ' ',
  '\t',
  '\v',
  '\f',
  '=',
  ',',
  '\0',
  '\u0085',
  '\u00A0',
  '\u2028',
  '\u2029',
  '\u001B[2K',
  '\uFEFF',
  'é',
  '😀',
  '%',
  '$(id)',
  '`id`',
  ';',
  '&&',
  'SlurmUser',
  'SlurmUser=root',
  'slurmctldhost=evil',
  'SlurmctldHost=evil(10.0.0.1)',
  'ClusterName=x',
  'StoragePass=mine',
  'DbdHost=evil',
  'AuthType=auth/none',
  'AuthInfo=socket=/evil',
  'include /etc/shadow',
  'AuthAltParameters=disable_token_creation',
  'SlurmctldParameters+=x',
  'StateSaveLocation=/',
  'root',
  'a',
  '0',
  'PartitionName=evil Nodes=ALL',
  'NodeName=evil',
  'NodeSet=evil Feature=x',
  'PluginDir=/evil',
  '\nSlurmUser=root\n',
];

/** Whole words of the grammar, glued together in any order, and plain noise. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(fc.constantFrom(...fragments), { maxLength: 9 }).map((all) => all.join('')),
  },
  {
    weight: 2,
    arbitrary: fc.array(fc.constantFrom(...fragments), { maxLength: 4 }).map((all) => `x${all.join('')}y`),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
);
