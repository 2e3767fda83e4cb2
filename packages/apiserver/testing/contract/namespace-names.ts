/**
 * Namespaces of one run of one case. The recordings of a topic share a namespace; here each run of a case gets its own,
 * so that no case meets objects of another. Requests are sent with the real names, answers are read with the recorded ones.
 */
export class NamespaceNames {
  readonly #real: ReadonlyMap<string, string>;

  constructor(recorded: readonly string[] = [], suffix = '') {
    this.#real = new Map(recorded.map((name) => [name, `${name}-${suffix}`]));
  }

  real(recorded: string): string {
    return this.#real.get(recorded) ?? recorded;
  }

  /** A path with its query. */
  path(path: string): string {
    let sent = path;
    for (const [name, real] of this.#real)
      sent = sent
        .replace(new RegExp(`/namespaces/${name}(?=[/?]|$)`), `/namespaces/${real}`)
        .replace(new RegExp(`(namespace(?:=|%3D)+)${name}(?![\\w-])`, 'g'), `$1${real}`)
        .replace(new RegExp(`(/namespaces\\?.*metadata\\.name(?:=|%3D)+)${name}(?![\\w-])`), `$1${real}`);
    return sent;
  }

  /** A header or a body, at every place that can only name a namespace. */
  outgoing<Value>(value: Value): Value {
    return this.#real.size === 0 ? value : (this.#deep(value, '') as Value);
  }

  /** The text of an answer, an event or a review. A real name occurs nowhere by accident. */
  incoming(text: string): string {
    let read = text;
    for (const [name, real] of this.#real) read = read.replaceAll(real, name);
    return read;
  }

  #deep(value: unknown, key: string): unknown {
    if (typeof value === 'string') return this.#text(value, key);
    if (Array.isArray(value)) return value.map((item) => this.#deep(item, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.#deep(item, name)]));
  }

  #text(text: string, key: string): string {
    if (key === 'namespace' || key === 'kubernetes.io/metadata.name') return this.real(text);
    let sent = text;
    for (const [name, real] of this.#real)
      sent = sent
        .replace(new RegExp(`(system:serviceaccounts?:)${name}(?![\\w-])`, 'g'), `$1${real}`)
        .replace(new RegExp(`("?namespace"?: ?"?)${name}(?![\\w-])`, 'g'), `$1${real}`);
    return sent;
  }
}
