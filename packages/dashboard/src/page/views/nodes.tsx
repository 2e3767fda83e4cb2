/** The map of all nodes, the table that says the same in words, and drain and resume for those who may. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { largestJobs, layOutNodes, natural, nodeAt, type NodeMap } from '../../live/node-map.ts';
import { type NodeRow, nodeUses } from '../../live/node-row.ts';
import { type Address, pathOf, withParameter } from '../address.ts';
import { count, memory } from '../format.ts';
import { go, Link, replaceAddress } from '../link.tsx';
import type { LiveCluster } from '../live-cluster.ts';
import type { rightsIn } from '../me.ts';
import { Meter } from '../bar.tsx';
import { Scroll } from '../scroll.tsx';
import { UseMark, useColours } from '../use-mark.tsx';
import { ConfirmDialog } from './confirm.tsx';

const mostRows = 300;

interface NodesProps {
  readonly at: Extract<Address, { cluster: string }>;
  readonly live: LiveCluster;
  readonly rights: ReturnType<typeof rightsIn>;
}

export function Nodes({ at, live, rights }: NodesProps) {
  const wanted = at.query.get('use') ?? '';
  const search = at.query.get('name') ?? '';
  const all = live.nodes.value;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState<'drain' | 'resume' | undefined>(undefined);
  const rows = useMemo(
    () =>
      [...all.values()]
        .filter((row) => (wanted === '' || row.use === wanted) && row.key.includes(search))
        .toSorted((a, b) => natural(a.key, b.key)),
    [all, wanted, search],
  );
  const uses = (Object.keys(nodeUses) as (keyof typeof nodeUses)[]).filter((use) =>
    [...all.values()].some((row) => row.use === use),
  );
  const change = (name: string, value: string) =>
    replaceAddress(pathOf(at, 'nodes', '', withParameter(at.query, name, value)));
  const toggle = (key: string) => {
    const next = new Set(chosen);
    if (!next.delete(key)) next.add(key);
    setChosen(next);
  };
  return (
    <>
      <section>
        <h2>
          {count(all.size, 'node')}
          {all.size === 0 ? '' : ', by block or partition'}
        </h2>
        <Map rows={all} onOpen={(key) => go(pathOf(at, 'nodes', key))} />
        <div class="legend">
          {uses.map((use) => (
            <span key={use}>
              <UseMark use={use} /> {use} {[...all.values()].filter((row) => row.use === use).length}
            </span>
          ))}
        </div>
      </section>
      <section>
        <h2>Largest job that could start now</h2>
        <div class="cards flat">
          {largestJobs(all.values()).map(({ gpusPerNode, nodes, nodesInOneBlock, block }) => (
            <div class="card" key={gpusPerNode}>
              <div class="value">{count(nodes, 'node')}</div>
              <div class="label">{gpusPerNode === 0 ? 'idle as a whole' : `with ${count(gpusPerNode, 'GPU')} free each`}</div>
              <div class="note">{block === '' ? '' : `${nodesInOneBlock} of them in ${block}`}</div>
            </div>
          ))}
        </div>
      </section>
      <section>
        <h2>{count(rows.length, 'node')}</h2>
        <form class="filter" onSubmit={(event) => event.preventDefault()}>
          <label>
            State
            <select value={wanted} onChange={(event) => change('use', event.currentTarget.value)}>
              <option value="">all</option>
              {uses.map((use) => (
                <option key={use} value={use}>
                  {use}
                </option>
              ))}
            </select>
          </label>
          <label>
            Name contains
            <input value={search} onInput={(event) => change('name', event.currentTarget.value)} />
          </label>
          {rights.changeNodes === true && (
            <>
              <button type="button" disabled={chosen.size === 0} onClick={() => setAsking('drain')}>
                Drain {chosen.size > 0 ? chosen.size : ''}
              </button>
              <button type="button" disabled={chosen.size === 0} onClick={() => setAsking('resume')}>
                Resume {chosen.size > 0 ? chosen.size : ''}
              </button>
            </>
          )}
        </form>
        <Scroll label="Nodes">
          <table aria-rowcount={rows.length}>
            <thead>
              <tr>
                {rights.changeNodes === true && (
                  <th class="choose">
                    <span class="unseen">Choose</span>
                  </th>
                )}
                <th>Node</th>
                <th>State</th>
                <th class="number">CPUs</th>
                <th class="number">Memory</th>
                <th class="number">GPUs</th>
                <th>Block</th>
                <th>Partitions</th>
                <th>Reason</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, mostRows).map((row) => (
                <tr key={row.key}>
                  {rights.changeNodes === true && (
                    <td>
                      <input
                        type="checkbox"
                        aria-label={`choose ${row.key}`}
                        checked={chosen.has(row.key)}
                        onChange={() => toggle(row.key)}
                      />
                    </td>
                  )}
                  <td class="row-name">
                    <Link to={pathOf(at, 'nodes', row.key)}>{row.key}</Link>
                  </td>
                  <td>
                    <UseMark use={row.use} /> {row.use}
                  </td>
                  <td class="number">
                    <Meter part={row.cpusUsed} whole={row.cpus} text={`${row.cpusUsed}/${row.cpus}`} />
                  </td>
                  <td class="number">
                    <Meter part={row.memoryUsed} whole={row.memory} text={`${memory(row.memoryUsed)} of ${memory(row.memory)}`} />
                  </td>
                  <td class="number">{row.gpus === 0 ? '' : <Meter part={row.gpusUsed} whole={row.gpus} text={`${row.gpusUsed}/${row.gpus}`} />}</td>
                  <td>{row.block}</td>
                  <td>{row.partitions.join(', ')}</td>
                  <td>
                    {row.reason}
                    {row.reasonBy === '' || row.reason === '' ? '' : ` (${row.reasonBy})`}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
        {rows.length > mostRows && (
          <p class="quiet">
            {mostRows} of {rows.length.toLocaleString('en')} are shown. Filter by state or name to see the others.
          </p>
        )}
      </section>
      {asking !== undefined && (
        <ConfirmDialog
          title={`${asking === 'drain' ? 'Drain' : 'Resume'} ${count(chosen.size, 'node')}`}
          text={
            asking === 'drain'
              ? 'Running jobs go on to their end; Slurm places no new ones there.'
              : 'Slurm may place jobs there at once.'
          }
          items={[...chosen]}
          path={`${live.base}/nodes/${asking}`}
          body={{ nodes: [...chosen] }}
          {...(asking === 'drain' ? { ask: { field: 'reason', label: 'Reason (others see it)' } } : {})}
          onClose={() => {
            setAsking(undefined);
            setChosen(new Set());
          }}
        />
      )}
    </>
  );
}

function Map({ rows, onOpen }: { rows: ReadonlyMap<string, NodeRow>; onOpen: (key: string) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const map = useRef<NodeMap | undefined>(undefined);
  const [hover, setHover] = useState('');
  useEffect(() => {
    if (canvas.current !== null) map.current = drawMap(canvas.current, rows);
  }, [rows]);
  const under = (event: MouseEvent) =>
    map.current === undefined ? undefined : nodeAt(map.current, event.offsetX, event.offsetY);
  const row = rows.get(hover);
  return (
    <>
      <canvas
        ref={canvas}
        role="img"
        aria-label="Map of the nodes; the table below says the same in words."
        onMouseMove={(event) => setHover(under(event) ?? '')}
        onMouseLeave={() => setHover('')}
        onClick={(event) => {
          const key = under(event);
          if (key !== undefined) onOpen(key);
        }}
      />
      <p class="quiet">{row === undefined ? ' ' : `${row.key}: ${row.use}. ${row.reason}`}</p>
    </>
  );
}

function drawMap(canvas: HTMLCanvasElement, rows: ReadonlyMap<string, NodeRow>): NodeMap {
  const width = Math.max(280, (canvas.parentElement?.clientWidth ?? 900) - 34);
  const laidOut = layOutNodes(rows.values(), {
    width,
    groupOf: (row) => (row.block === '' ? (row.partitions[0] ?? 'no partition') : row.block),
  });
  const ratio = devicePixelRatio;
  canvas.width = width * ratio;
  canvas.height = laidOut.height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${laidOut.height}px`;
  const context = canvas.getContext('2d');
  if (context === null) return laidOut;
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  context.font = '12px system-ui';
  context.fillStyle = style.getPropertyValue('--quiet');
  for (const { label, x, y } of laidOut.groups) context.fillText(label, x, y + 12, 160);
  context.textAlign = 'center';
  for (const [key, { x, y }] of laidOut.cells) {
    const row = rows.get(key);
    if (row === undefined) continue;
    context.fillStyle = style.getPropertyValue(useColours[row.use]);
    context.fillRect(x, y, laidOut.cell, laidOut.cell);
    if (laidOut.cell < 14) continue;
    context.fillStyle = '#111';
    context.fillText(nodeUses[row.use], x + laidOut.cell / 2, y + laidOut.cell / 2 + 4);
  }
  return laidOut;
}
