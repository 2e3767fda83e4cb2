/** The list of jobs: filters, order and window are in the address and are worked out by the server. */
import { useState } from 'preact/hooks';
import type { FoldedJob } from '../../live/job-row.ts';
import { type Address, pathOf, withParameter } from '../address.ts';
import { clock, count, timeLimit } from '../format.ts';
import { Link, replaceAddress } from '../link.tsx';
import type { LiveCluster } from '../live-cluster.ts';
import type { rightsIn } from '../me.ts';
import { useRead } from '../use-read.ts';
import { ConfirmDialog } from './confirm.tsx';

interface Window {
  readonly rows: readonly FoldedJob[];
  readonly total: number;
  readonly states: Readonly<Record<string, number>>;
  readonly onlyOwn: boolean;
}

const columns = [
  ['id', 'Job', true],
  ['name', 'Name', false],
  ['user', 'User', false],
  ['account', 'Account', false],
  ['partition', 'Partition', false],
  ['qos', 'QOS', false],
  ['state', 'State', false],
  ['reason', 'Reason', false],
  ['nodeCount', 'Nodes', true],
  ['cpus', 'CPUs', true],
  ['gpus', 'GPUs', true],
  ['priority', 'Priority', true],
  ['submittedAt', 'Submitted', false],
  ['startedAt', 'Start', false],
  ['timeLimit', 'Limit', false],
] as const;
const pageSize = 200;
const filters = ['user', 'account', 'partition', 'qos', 'reason', 'name', 'node'] as const;

type Action = 'cancel' | 'hold' | 'release';
const consequences: Readonly<Record<Action, string>> = {
  cancel: 'They end at once and do not come back.',
  hold: 'Pending ones do not start until they are released. Running ones go on.',
  release: 'They may start as soon as it is their turn.',
};

export function Jobs({
  at,
  live,
  rights,
}: {
  at: Extract<Address, { cluster: string }>;
  live: LiveCluster;
  rights: ReturnType<typeof rightsIn>;
}) {
  const { query } = at;
  const { value, problem } = useRead<Window>(`${live.base}/jobs?${query.toString()}`, live.jobsVersion.value);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState<Action | undefined>(undefined);
  const change = (name: string, text: string) =>
    replaceAddress(pathOf(at, 'jobs', '', withParameter(query, name, text)));
  const offset = Number(query.get('offset') ?? 0);
  const sort = query.get('sort') ?? 'submittedAt';
  const descending = query.has('sort') ? query.get('order') === 'descending' : true;
  const order = (column: string) => {
    const next = withParameter(query, 'sort', column);
    next.set('order', sort === column && !descending ? 'descending' : 'ascending');
    replaceAddress(pathOf(at, 'jobs', '', next));
  };
  const mayChange = rights.changeJobs === true || rights.cancelJobs === true;
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  return (
    <section>
      <h2>{value === undefined ? 'Jobs' : count(value.total, 'job')}</h2>
      {value?.onlyOwn === true && <p class="quiet">Only your own jobs are shown. Seeing all needs the right to list clusters/jobs.</p>}
      {problem !== '' && <p class="notice bad">{problem}</p>}
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <label>
          State
          <select value={query.get('state') ?? ''} onChange={(event) => change('state', event.currentTarget.value)}>
            <option value="">all</option>
            {[...new Set(['PENDING', 'RUNNING', ...Object.keys(value?.states ?? {})])].map((state) => (
              <option key={state} value={state}>
                {state.toLowerCase()} {value?.states[state] ?? ''}
              </option>
            ))}
          </select>
        </label>
        {filters.map((name) => (
          <label key={name}>
            {name}
            <input size={10} value={query.get(name) ?? ''} onChange={(event) => change(name, event.currentTarget.value)} />
          </label>
        ))}
        <label>
          Tasks of arrays
          <select value={query.get('fold') ?? ''} onChange={(event) => change('fold', event.currentTarget.value)}>
            <option value="">one row for each array</option>
            <option value="no">one row for each task</option>
          </select>
        </label>
      </form>
      {mayChange && (
        <div class="actions">
          {(['hold', 'release', 'cancel'] as const)
            .filter((action) => (action === 'cancel' ? rights.cancelJobs : rights.changeJobs) === true)
            .map((action) => (
              <button key={action} type="button" disabled={chosen.size === 0} onClick={() => setAsking(action)}>
                {action[0]?.toUpperCase()}
                {action.slice(1)} {chosen.size > 0 ? chosen.size : ''}
              </button>
            ))}
        </div>
      )}
      <div class="scroll">
        <table aria-rowcount={value?.total}>
          <thead>
            <tr>
              {mayChange && <th>Choose</th>}
              {columns.map(([name, title, isNumber]) => (
                <th
                  key={name}
                  class={isNumber ? 'number' : ''}
                  aria-sort={sort === name ? (descending ? 'descending' : 'ascending') : 'none'}
                >
                  <button type="button" onClick={() => order(name)}>
                    {title}
                    {sort === name ? (descending ? ' ↓' : ' ↑') : ''}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {value?.rows.map((row, index) => (
              <tr key={row.key} aria-rowindex={offset + index + 2}>
                {mayChange && (
                  <td>
                    <input
                      type="checkbox"
                      aria-label={`choose job ${row.id}`}
                      checked={chosen.has(row.id)}
                      onChange={() => toggle(row.id)}
                    />
                  </td>
                )}
                <td class="number row-name">
                  <Link to={pathOf(at, 'jobs', row.id)}>{row.id}</Link>
                </td>
                <td>{row.name}</td>
                <td>{row.user}</td>
                <td>{row.account}</td>
                <td>{row.partition}</td>
                <td>{row.qos}</td>
                <td>{row.tasks === undefined ? row.state.toLowerCase() : tasksText(row.tasks)}</td>
                <td>{row.reason}</td>
                <td class="number">{row.nodeCount}</td>
                <td class="number">{row.cpus}</td>
                <td class="number">{row.gpus === 0 ? '' : row.gpus}</td>
                <td class="number">{row.priority}</td>
                <td>{clock(row.submittedAt, Date.now())}</td>
                <td>
                  {row.state === 'PENDING' && row.startedAt > 0 ? 'about ' : ''}
                  {clock(row.startedAt, Date.now())}
                </td>
                <td>{timeLimit(row.timeLimit)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {value !== undefined && value.total > pageSize && (
        <div class="actions">
          <button type="button" disabled={offset === 0} onClick={() => change('offset', offset - pageSize > 0 ? String(offset - pageSize) : '')}>
            Previous
          </button>
          <span class="quiet">
            {offset + 1} to {Math.min(offset + pageSize, value.total)} of {value.total.toLocaleString('en')}
          </span>
          <button type="button" disabled={offset + pageSize >= value.total} onClick={() => change('offset', String(offset + pageSize))}>
            Next
          </button>
        </div>
      )}
      {asking !== undefined && (
        <ConfirmDialog
          title={`${asking[0]?.toUpperCase()}${asking.slice(1)} ${count(chosen.size, 'job')}`}
          text={consequences[asking]}
          items={[...chosen]}
          path={`${live.base}/jobs/${asking}`}
          body={{ ids: [...chosen] }}
          onClose={() => {
            setAsking(undefined);
            setChosen(new Set());
          }}
        />
      )}
    </section>
  );
}

function tasksText(tasks: Readonly<Record<string, number>>): string {
  return Object.entries(tasks)
    .map(([state, many]) => `${many} ${state.toLowerCase()}`)
    .join(', ');
}
