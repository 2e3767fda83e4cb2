/** The list of jobs: filters, order and window are in the address and are worked out by the server. */
import { useState } from 'preact/hooks';
import type { FoldedJob } from '../../live/job-row.ts';
import { type Address, pathOf, withParameter } from '../address.ts';
import { clock, count, timeLimit } from '../format.ts';
import { Link, replaceAddress } from '../link.tsx';
import type { LiveCluster } from '../live-cluster.ts';
import type { rightsIn } from '../me.ts';
import { useRead } from '../use-read.ts';
import { JobState } from '../job-state.tsx';
import { Scroll } from '../scroll.tsx';
import { ConfirmDialog } from './confirm.tsx';
import { explainReason } from './reasons.ts';

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
const titles = { user: 'User', account: 'Account', partition: 'Partition', qos: 'QOS', reason: 'Reason', name: 'Name', node: 'Node' } as const;
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
  const { value, problem } = useRead<Window>(`${live.base}/jobs?${query.toString()}`, live.jobsVersion.value, { keeps: true });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState<Action | undefined>(undefined);
  const change = (name: string, text: string) =>
    replaceAddress(pathOf(at, 'jobs', '', withParameter(query, name, text)));
  const wanted = query.get('state') ?? '';
  const hidden = new Set((query.get('hide') ?? '').split(','));
  const shown = columns.filter(([name]) => !hidden.has(name));
  const toggleColumn = (name: string) => {
    const next = new Set([...hidden].filter((one) => one !== ''));
    if (!next.delete(name)) next.add(name);
    change('hide', [...next].join(','));
  };
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
      <h2 class="page">{value === undefined ? 'Jobs' : count(value.total, 'job')}</h2>
      {value?.onlyOwn === true && <p class="quiet">Only your own jobs are shown. Seeing all needs the right to list clusters/jobs.</p>}
      {problem !== '' && <p class="notice bad">{problem}</p>}
      <div class="chips" role="group" aria-label="State">
        {['', ...new Set(['RUNNING', 'PENDING', ...Object.keys(value?.states ?? {}), ...(wanted === '' ? [] : [wanted])])].map((state) => (
          <button key={state} type="button" aria-pressed={wanted === state} onClick={() => change('state', state)}>
            {state === '' ? 'all' : state.toLowerCase().replaceAll('_', ' ')} {state === '' ? '' : (value?.states[state] ?? '')}
          </button>
        ))}
      </div>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        {filters.map((name) => (
          <label key={name}>
            {titles[name]}
            <input size={11} placeholder={name === 'name' ? 'train-*' : ''} value={query.get(name) ?? ''} onChange={(event) => change(name, event.currentTarget.value)} />
          </label>
        ))}
        <label>
          Arrays
          <select value={query.get('fold') ?? ''} onChange={(event) => change('fold', event.currentTarget.value)}>
            <option value="">one row for each array</option>
            <option value="no">one row for each task</option>
          </select>
        </label>
      </form>
      <details class="more">
        <summary>Columns</summary>
        <div class="actions">
          {columns.slice(1).map(([name, title]) => (
            <label key={name} class="check">
              <input type="checkbox" checked={!hidden.has(name)} onChange={() => toggleColumn(name)} />
              {title}
            </label>
          ))}
        </div>
      </details>
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
      <Scroll label="Jobs">
        <table aria-rowcount={value?.total}>
          <thead>
            <tr>
              {mayChange && (
                <th class="choose">
                  <span class="unseen">Choose</span>
                </th>
              )}
              {shown.map(([name, title, isNumber]) => (
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
                  <td class="choose">
                    <input
                      type="checkbox"
                      aria-label={`choose job ${row.id}`}
                      checked={chosen.has(row.id)}
                      onChange={() => toggle(row.id)}
                    />
                  </td>
                )}
                {shown.map(([name, , isNumber]) => (
                  <td key={name} class={`${isNumber ? 'number' : ''}${name === 'id' ? ' row-name' : ''}`}>
                    <Cell name={name} row={row} at={at} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
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

function Cell({ name, row, at }: { name: (typeof columns)[number][0]; row: FoldedJob; at: Extract<Address, { cluster: string }> }) {
  const now = Date.now();
  switch (name) {
    case 'id':
      return <Link to={pathOf(at, 'jobs', row.id)}>{row.id}</Link>;
    case 'state':
      return row.tasks === undefined ? <JobState state={row.state} /> : <span class="pill">{tasksText(row.tasks)}</span>;
    case 'reason':
      return <span title={explainReason(row.reason)}>{row.reason}</span>;
    case 'submittedAt':
      return <>{clock(row.submittedAt, now)}</>;
    case 'startedAt':
      return (
        <>
          {row.state === 'PENDING' && row.startedAt > 0 ? 'about ' : ''}
          {clock(row.startedAt, now)}
        </>
      );
    case 'timeLimit':
      return <>{timeLimit(row.timeLimit)}</>;
    case 'gpus':
      return <>{row.gpus === 0 ? '' : row.gpus}</>;
    default:
      return <>{row[name]}</>;
  }
}

function tasksText(tasks: Readonly<Record<string, number>>): string {
  return Object.entries(tasks)
    .map(([state, many]) => `${many} ${state.toLowerCase()}`)
    .join(', ');
}
