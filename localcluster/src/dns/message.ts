/** DNS messages on the wire (RFC 1035): enough to read a question and to write an answer. */
export const recordType = { A: 1, CNAME: 5, SOA: 6, PTR: 12, AAAA: 28, SRV: 33, ANY: 255 } as const;
export const responseCode = { ok: 0, formatError: 1, nameError: 3, notImplemented: 4, refused: 5 } as const;

export interface Question {
  readonly name: string;
  readonly type: number;
  readonly class: number;
}

export interface Query {
  readonly id: number;
  readonly recursionDesired: boolean;
  readonly opcode: number;
  readonly question: Question;
}

export type ResourceRecord = { readonly name: string; readonly ttl: number } & (
  | { readonly type: 'A'; readonly address: string }
  | { readonly type: 'PTR'; readonly target: string }
  | { readonly type: 'CNAME'; readonly target: string }
  | {
      readonly type: 'SRV';
      readonly priority: number;
      readonly weight: number;
      readonly port: number;
      readonly target: string;
    }
  | { readonly type: 'SOA'; readonly zone: string }
);

export interface Answer {
  readonly code: number;
  readonly answers: readonly ResourceRecord[];
  readonly authority?: readonly ResourceRecord[];
}

/** Undefined when the bytes are no query with one question. */
export function parseQuery(bytes: Buffer): Query | undefined {
  if (bytes.length < 17 || (bytes.readUInt16BE(2) & 0x8000) !== 0 || bytes.readUInt16BE(4) !== 1)
    return undefined;
  const labels: string[] = [];
  let at = 12;
  for (;;) {
    const length = bytes[at];
    if (length === undefined || length > 63) return undefined;
    at += 1;
    if (length === 0) break;
    if (at + length > bytes.length) return undefined;
    labels.push(bytes.toString('latin1', at, at + length));
    at += length;
  }
  if (at + 4 > bytes.length) return undefined;
  const flags = bytes.readUInt16BE(2);
  return {
    id: bytes.readUInt16BE(0),
    recursionDesired: (flags & 0x0100) !== 0,
    opcode: (flags >> 11) & 15,
    question: { name: labels.join('.'), type: bytes.readUInt16BE(at), class: bytes.readUInt16BE(at + 2) },
  };
}

/** Answers longer than `limit` are cut to none with the truncation bit set, so that the client asks again over TCP. */
export function writeAnswer(query: Query, answer: Answer, limit = 65_535): Buffer {
  const whole = encode(query, answer, false);
  return whole.length <= limit ? whole : encode(query, { code: answer.code, answers: [] }, true);
}

function encode(query: Query, answer: Answer, truncated: boolean): Buffer {
  const authority = answer.authority ?? [];
  const header = Buffer.alloc(12);
  header.writeUInt16BE(query.id, 0);
  const flags =
    0x8400 | (truncated ? 0x0200 : 0) | (query.recursionDesired ? 0x0180 : 0) | (answer.code & 15);
  header.writeUInt16BE(flags, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answer.answers.length, 6);
  header.writeUInt16BE(authority.length, 8);
  const { question } = query;
  return Buffer.concat([
    header,
    encodeName(question.name),
    words(question.type, question.class),
    ...[...answer.answers, ...authority].map(encodeRecord),
  ]);
}

const words = (...values: readonly number[]) => {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
};

function encodeName(name: string): Buffer {
  const parts = name.split('.').filter((label) => label !== '');
  return Buffer.concat([
    ...parts.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])),
    Buffer.from([0]),
  ]);
}

function encodeRecord(record: ResourceRecord): Buffer {
  const data = dataOf(record);
  const ttl = Buffer.alloc(4);
  ttl.writeUInt32BE(record.ttl);
  return Buffer.concat([
    encodeName(record.name),
    words(recordType[record.type], 1),
    ttl,
    words(data.length),
    data,
  ]);
}

function dataOf(record: ResourceRecord): Buffer {
  switch (record.type) {
    case 'A':
      return Buffer.from(record.address.split('.').map(Number));
    case 'PTR':
    case 'CNAME':
      return encodeName(record.target);
    case 'SRV':
      return Buffer.concat([words(record.priority, record.weight, record.port), encodeName(record.target)]);
    case 'SOA': {
      const numbers = Buffer.alloc(20);
      for (const [index, value] of [1, 7200, 1800, 86_400, 5].entries())
        numbers.writeUInt32BE(value, index * 4);
      return Buffer.concat([
        encodeName(`ns.dns.${record.zone}`),
        encodeName(`hostmaster.${record.zone}`),
        numbers,
      ]);
    }
  }
}
