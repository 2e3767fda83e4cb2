import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EndpointSlice, Service } from '../objects/objects.ts';
import { parseQuery, recordType, responseCode, writeAnswer } from './message.ts';
import { answerQuestion, type ZoneSource } from './zone.ts';

const services: Record<string, object> = {
  'ns/web': {
    metadata: { name: 'web', namespace: 'ns' },
    spec: { clusterIP: '10.0.0.5', ports: [{ name: 'http', port: 80 }] },
  },
  'ns/nodes': {
    metadata: { name: 'nodes', namespace: 'ns' },
    spec: { clusterIP: 'None', ports: [{ name: 'd', port: 6818 }] },
  },
  'ns/early': { metadata: { name: 'early', namespace: 'ns' }, spec: { ports: [{ port: 80 }] } },
  'ns/none': { metadata: { name: 'none', namespace: 'ns' }, spec: { clusterIP: 'None' } },
  'ns/away': {
    metadata: { name: 'away', namespace: 'ns' },
    spec: { type: 'ExternalName', externalName: 'db.example.org' },
  },
};
const slice = {
  metadata: { namespace: 'ns', labels: { 'kubernetes.io/service-name': 'nodes' } },
  ports: [{ name: 'd', port: 6818, protocol: 'TCP' }],
  endpoints: [
    { addresses: ['10.1.0.2'], hostname: 'nodes-0', conditions: { ready: true } },
    { addresses: ['10.1.0.3'], conditions: { ready: true } },
    { addresses: ['10.1.0.4'], hostname: 'nodes-2', conditions: { ready: false } },
  ],
} as unknown as EndpointSlice;

const source: ZoneSource = {
  service: (namespace, name) => services[`${namespace}/${name}`] as unknown as Service | undefined,
  slices: (_namespace, service) => (service === 'nodes' ? [slice] : []),
  hasNamespace: (name) => name === 'ns',
  serviceByAddress: (address) =>
    address === '10.0.0.5' ? (services['ns/web'] as unknown as Service) : undefined,
  endpointsByAddress: (address) =>
    (slice.endpoints ?? [])
      .filter((entry) => entry.addresses.includes(address))
      .map((endpoint) => ({ slice, endpoint })),
};

const ask = (name: string, type: number = recordType.A) => {
  const { code, answers } = answerQuestion({ name, type, class: 1 }, source);
  return [
    code,
    ...answers.map((record) =>
      'address' in record
        ? record.address
        : record.type === 'SRV'
          ? `${record.port} ${record.target}`
          : 'target' in record
            ? record.target
            : '',
    ),
  ];
};
const { ok, nameError } = responseCode;

const table: readonly [reason: string, name: string, type: number, answer: readonly unknown[]][] = [
  ['a Service is its cluster address', 'web.ns.svc.cluster.local', recordType.A, [ok, '10.0.0.5']],
  ['names are not case-sensitive', 'WEB.ns.SVC.cluster.local', recordType.A, [ok, '10.0.0.5']],
  [
    'a name without that type of record exists all the same',
    'web.ns.svc.cluster.local',
    recordType.AAAA,
    [ok],
  ],
  [
    'a headless Service is its ready endpoints',
    'nodes.ns.svc.cluster.local',
    recordType.A,
    [ok, '10.1.0.2', '10.1.0.3'],
  ],
  ['a pod behind it has its own name', 'nodes-0.nodes.ns.svc.cluster.local', recordType.A, [ok, '10.1.0.2']],
  ['or is known by its address', '10-1-0-3.nodes.ns.svc.cluster.local', recordType.A, [ok, '10.1.0.3']],
  ['one that is not ready has no name', 'nodes-2.nodes.ns.svc.cluster.local', recordType.A, [nameError]],
  [
    'a headless Service without endpoints has no name',
    'none.ns.svc.cluster.local',
    recordType.A,
    [nameError],
  ],
  [
    'ports are SRV records',
    '_http._tcp.web.ns.svc.cluster.local',
    recordType.SRV,
    [ok, '80 web.ns.svc.cluster.local'],
  ],
  [
    'of a headless Service one per endpoint',
    '_d._tcp.nodes.ns.svc.cluster.local',
    recordType.SRV,
    [ok, '6818 nodes-0.nodes.ns.svc.cluster.local', '6818 10-1-0-3.nodes.ns.svc.cluster.local'],
  ],
  ['an external name is an alias', 'away.ns.svc.cluster.local', recordType.A, [ok, 'db.example.org']],
  ['an address has a name', '5.0.0.10.in-addr.arpa', recordType.PTR, [ok, 'web.ns.svc.cluster.local']],
  ['a pod too', '2.0.1.10.in-addr.arpa', recordType.PTR, [ok, 'nodes-0.nodes.ns.svc.cluster.local']],
  ['a dashed pod address', '10-9-9-9.ns.pod.cluster.local', recordType.A, [ok, '10.9.9.9']],
  ['nothing outside the cluster', 'example.org', recordType.A, [nameError]],
  ['a search list adds the namespace', 'web.ns.ns.svc.cluster.local', recordType.A, [nameError]],
  ['or the kind of name', 'web.ns.svc.cluster.local.svc.cluster.local', recordType.A, [nameError]],
  ['or the domain', 'web.ns.svc.cluster.local.cluster.local', recordType.AAAA, [nameError]],
  [
    'none of which exists, nor a name that lacks its namespace',
    'web.svc.cluster.local',
    recordType.A,
    [nameError],
  ],
  ['a namespace exists without having an address', 'ns.svc.cluster.local', recordType.A, [ok]],
  ['a Service that has no address yet has none to tell', 'early.ns.svc.cluster.local', recordType.A, [ok]],
  ['no such Service', 'nope.ns.svc.cluster.local', recordType.A, [nameError]],
  ['no such namespace', 'svc.cluster.local.nope', recordType.A, [nameError]],
];
for (const [reason, name, type, answer] of table)
  test(reason, () => assert.deepEqual(ask(name, type), answer));

test('any query for any name comes back in its answer, and no bytes break the parser', () => {
  const label = fc.stringMatching(/^[a-z0-9_-]{1,20}$/);
  fc.assert(
    fc.property(
      fc.array(label, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 0, max: 65_535 }),
      (labels, id) => {
        const name = Buffer.concat([
          ...labels.map((one) => Buffer.from(`${String.fromCodePoint(one.length)}${one}`)),
          Buffer.from([0]),
        ]);
        const head = Buffer.alloc(12);
        head.writeUInt16BE(id, 0);
        head.writeUInt16BE(0x0100, 2);
        head.writeUInt16BE(1, 4);
        const query = parseQuery(Buffer.concat([head, name, Buffer.from([0, 1, 0, 1])]));
        assert.deepEqual(query?.question, { name: labels.join('.'), type: 1, class: 1 });
        const answer = writeAnswer(query, {
          code: 0,
          answers: [{ type: 'A', name: labels.join('.'), ttl: 5, address: '10.0.0.1' }],
        });
        assert.equal(answer.readUInt16BE(0), id);
        assert.equal(answer.readUInt16BE(6), 1);
        assert.deepEqual([...answer.subarray(-4)], [10, 0, 0, 1]);
      },
    ),
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => void parseQuery(Buffer.from(bytes))));
});

test('an answer that is too long for UDP is cut and says so', () => {
  const query = { id: 1, recursionDesired: true, opcode: 0, question: { name: 'x', type: 1, class: 1 } };
  const answers = Array.from({ length: 100 }, (_, index) => ({
    type: 'A' as const,
    name: 'x',
    ttl: 5,
    address: `10.0.0.${index}`,
  }));
  const cut = writeAnswer(query, { code: 0, answers }, 512);
  assert.ok(cut.length <= 512);
  assert.equal((cut[2] ?? 0) & 0x02, 0x02);
});
