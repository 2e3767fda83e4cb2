/** Filters, sorts and cuts a window out of all jobs. Pure; the same words are in the URL of the page. */
import { expandHostlist } from '@slurm-operator/slurm';
import { baseState, type FoldedJob, type JobRow } from '../live/job-row.ts';

export const jobColumns = [
  'id',
  'name',
  'user',
  'account',
  'partition',
  'qos',
  'state',
  'reason',
  'nodeCount',
  'cpus',
  'gpus',
  'priority',
  'submittedAt',
  'startedAt',
  'timeLimit',
] as const;
export type JobColumn = (typeof jobColumns)[number];

export interface JobQuery {
  /** Exact values; several mean any of them. */
  readonly user: readonly string[];
  readonly account: readonly string[];
  readonly partition: readonly string[];
  readonly qos: readonly string[];
  readonly state: readonly string[];
  readonly reason: readonly string[];
  /** A name with `*` and `?`. */
  readonly name: string;
  readonly node: string;
  readonly sort: JobColumn;
  readonly descending: boolean;
  /** One row for all tasks of an array. */
  readonly fold: boolean;
  readonly offset: number;
  readonly limit: number;
}

export const largestWindow = 500;
const lists = ['user', 'account', 'partition', 'qos', 'state', 'reason'] as const;
const mostValues = 50;
const longestValue = 200;

export interface BadQuery {
  readonly field: string;
  readonly message: string;
}

/** Reads a query from a URL. Unknown parameters are ignored, so that old links keep working; a wrong value is named. */
export function readJobQuery(parameters: URLSearchParams): JobQuery | BadQuery {
  const text = (field: string) => (parameters.get(field) ?? '').slice(0, longestValue);
  const values = (field: string) =>
    parameters
      .getAll(field)
      .flatMap((value) => value.split(','))
      .map((value) => value.trim().slice(0, longestValue))
      .filter((value) => value !== '')
      .slice(0, mostValues);
  const sort = text('sort') === '' ? 'submittedAt' : text('sort');
  const column = jobColumns.find((name) => name === sort);
  if (column === undefined)
    return { field: 'sort', message: `sort=${sort} is not a column; use one of ${jobColumns.join(', ')}.` };
  const offset = wholeNumber(text('offset'), 0);
  if (offset === undefined) return { field: 'offset', message: 'offset must be a whole number, 0 or more.' };
  const limit = wholeNumber(text('limit'), 200);
  if (limit === undefined || limit > largestWindow)
    return { field: 'limit', message: `limit must be a whole number up to ${largestWindow}.` };
  const [user = [], account = [], partition = [], qos = [], state = [], reason = []] = lists.map(values);
  return {
    user,
    account,
    partition,
    qos,
    state: state.map((each) => each.toUpperCase()),
    reason,
    name: text('name'),
    node: text('node'),
    sort: column,
    descending: parameters.has('sort') ? parameters.get('order') === 'descending' : true,
    fold: parameters.get('fold') !== 'no',
    offset,
    limit,
  };
}

export function isBadQuery(query: JobQuery | BadQuery): query is BadQuery {
  return 'message' in query;
}

export interface JobWindow {
  readonly rows: readonly FoldedJob[];
  /** Rows that match, folded or not. */
  readonly total: number;
  /** Jobs that match by state, for the filter bar. */
  readonly states: Readonly<Record<string, number>>;
}

/** `only`: the user whose jobs may be seen, where not all may. */
export function queryJobs(rows: Iterable<JobRow>, query: JobQuery, only?: string): JobWindow {
  const matches = matcher(query, only);
  const states: Record<string, number> = {};
  const found: JobRow[] = [];
  for (const row of rows) {
    if (!matches(row)) continue;
    const state = baseState(row.state);
    states[state] = (states[state] ?? 0) + 1;
    found.push(row);
  }
  const folded = query.fold ? foldArrays(found) : found.map((row) => ({ ...row, tasks: undefined }));
  folded.sort(comparison(query));
  return { rows: folded.slice(query.offset, query.offset + query.limit), total: folded.length, states };
}

function matcher(query: JobQuery, only: string | undefined): (row: JobRow) => boolean {
  const tests: ((row: JobRow) => boolean)[] = [];
  if (only !== undefined) tests.push((row) => row.user === only);
  for (const field of lists) {
    const wanted = new Set(query[field]);
    if (wanted.size === 0) continue;
    tests.push(
      field === 'state'
        ? (row) => row.state.split('+').some((each) => wanted.has(each))
        : (row) => wanted.has(row[field]),
    );
  }
  if (query.name !== '') {
    const glob = globOf(query.name);
    tests.push((row) => glob(row.name));
  }
  if (query.node !== '') {
    const onNode = nodeTest(query.node);
    tests.push((row) => row.nodes !== '' && onNode(row.nodes));
  }
  return (row) => tests.every((matches) => matches(row));
}

/** Without wildcards a name is searched anywhere. Linear in the length of the name, whatever the pattern is. */
function globOf(pattern: string): (name: string) => boolean {
  const lower = pattern.toLowerCase();
  if (!/[*?]/.test(lower)) return (name) => name.toLowerCase().includes(lower);
  const wanted = lower.replaceAll(/\*+/g, '*');
  return (name) => {
    const text = name.toLowerCase();
    let at = 0;
    let place = 0;
    let star = -1;
    let resume = 0;
    while (at < text.length) {
      if (wanted[place] === '*') {
        star = place;
        place += 1;
        resume = at;
      } else if (place < wanted.length && (wanted[place] === '?' || wanted[place] === text[at])) {
        place += 1;
        at += 1;
      } else if (star !== -1) {
        place = star + 1;
        resume += 1;
        at = resume;
      } else return false;
    }
    return wanted.slice(place).replaceAll('*', '') === '';
  };
}

/** Many jobs have the same nodes, so a hostlist is expanded once. One that cannot be read matches nothing. */
function nodeTest(node: string): (hostlist: string) => boolean {
  const seen = new Map<string, boolean>();
  return (hostlist) => {
    const known = seen.get(hostlist);
    if (known !== undefined) return known;
    let found = false;
    try {
      found = expandHostlist(hostlist).includes(node);
    } catch {
      found = false;
    }
    seen.set(hostlist, found);
    return found;
  };
}

function foldArrays(rows: readonly JobRow[]): FoldedJob[] {
  const folded: FoldedJob[] = [];
  const arrays = new Map<number, JobRow[]>();
  for (const row of rows) {
    if (row.array === 0) folded.push({ ...row, tasks: undefined });
    else {
      const tasks = arrays.get(row.array);
      if (tasks === undefined) arrays.set(row.array, [row]);
      else tasks.push(row);
    }
  }
  for (const [array, tasks] of arrays) {
    // The most important task stands for all: one that runs, else one that waits, else the last one.
    const shown = tasks.toSorted((a, b) => rank(a) - rank(b))[0];
    if (shown === undefined) continue;
    const counts: Record<string, number> = {};
    for (const task of tasks) counts[baseState(task.state)] = (counts[baseState(task.state)] ?? 0) + 1;
    const sum = (field: 'cpus' | 'gpus' | 'nodeCount') =>
      tasks.reduce((total, task) => total + (baseState(task.state) === 'RUNNING' ? task[field] : 0), 0);
    folded.push({
      ...shown,
      key: `array-${array}`,
      id: String(array),
      cpus: sum('cpus') || shown.cpus,
      gpus: sum('gpus') || shown.gpus,
      nodeCount: sum('nodeCount') || shown.nodeCount,
      tasks: counts,
    });
  }
  return folded;
}

function rank(row: JobRow): number {
  const order = ['RUNNING', 'PENDING', 'SUSPENDED'].indexOf(baseState(row.state));
  return order === -1 ? 3 : order;
}

function comparison({ sort, descending }: JobQuery): (a: FoldedJob, b: FoldedJob) => number {
  const sign = descending ? -1 : 1;
  // Equal rows keep one order from poll to poll, so that the list does not flicker.
  const byId = (a: FoldedJob, b: FoldedJob) => a.id.localeCompare(b.id, 'en', { numeric: true });
  if (sort === 'id') return (a, b) => sign * byId(a, b);
  return (a, b) => {
    const x = a[sort];
    const y = b[sort];
    const order =
      typeof x === 'number' && typeof y === 'number' ? x - y : x === y ? 0 : String(x) < String(y) ? -1 : 1;
    return order === 0 ? byId(a, b) : sign * order;
  };
}

function wholeNumber(text: string, otherwise: number): number | undefined {
  if (text === '') return otherwise;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
