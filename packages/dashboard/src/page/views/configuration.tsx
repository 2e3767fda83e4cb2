/** slurm.conf as it is in force, who wrote each line, and what is held back or refused. */
import type { DiffLine } from '../../live/line-diff.ts';
import { clock } from '../format.ts';
import type { LiveCluster } from '../live-cluster.ts';
import { Scroll } from '../scroll.tsx';
import { useEvery, useRead } from '../use-read.ts';

interface ConfigurationBody {
  readonly extraConf: string;
  readonly held: {
    readonly since?: string;
    readonly items?: readonly {
      readonly kind?: string;
      readonly name?: string;
      readonly cause?: string;
      readonly runningJobs?: number;
      readonly pendingJobs?: number;
      readonly message?: string;
    }[];
  } | null;
  readonly refused: readonly { readonly name: string; readonly lines: readonly DiffLine[] }[];
  readonly files: readonly { readonly name: string; readonly lines: readonly { readonly text: string; readonly isOwn: boolean }[] }[];
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];
}

export function Configuration({ live }: { live: LiveCluster }) {
  const { value, problem } = useRead<ConfigurationBody>(`${live.base}/configuration`, useEvery(10_000));
  if (value === undefined) return <p class={problem === '' ? 'quiet' : 'notice bad'}>{problem === '' ? 'Reading…' : problem}</p>;
  return (
    <>
      <h2 class="page">Configuration</h2>
      {problem !== '' && <p class="notice bad">{problem}</p>}
      <section>
        <h2>State</h2>
        <dl>
          {value.conditions.map(({ type, status, reason, message }) => (
            <>
              <dt>{type}</dt>
              <dd>
                <span class={`pill ${(type === 'ConfigHeld' || type === 'ConfigRejected') === (status === 'True') ? 'warning' : 'good'}`}>{reason || status}</span> {message}
              </dd>
            </>
          ))}
        </dl>
      </section>
      {value.held !== null && (
        <section>
          <h2>Held back{value.held.since === undefined ? '' : ` since ${clock(Date.parse(value.held.since), Date.now())}`}</h2>
          <Scroll label="Held back">
            <table>
              <thead>
                <tr>
                  <th>What</th>
                  <th>Why</th>
                  <th class="number">Running jobs</th>
                  <th class="number">Pending jobs</th>
                  <th>Message</th>
                </tr>
              </thead>
              <tbody>
                {value.held.items?.map(({ kind, name, cause, runningJobs, pendingJobs, message }) => (
                  <tr key={`${kind} ${name}`}>
                    <td class="row-name">{[kind, name].filter(Boolean).join(' ')}</td>
                    <td>{cause}</td>
                    <td class="number">{runningJobs}</td>
                    <td class="number">{pendingJobs}</td>
                    <td class="text">{message}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </section>
      )}
      {value.refused.map(({ name, lines }) => (
        <section key={`refused ${name}`}>
          <h2>{name}: tried, and not in force</h2>
          <pre class="diff" role="region" aria-label={`What would change in ${name}`} tabIndex={0}>
            {lines.map(({ kind, text }, index) => (
              <span key={`${index} ${text}`} class={kind}>
                {{ same: ' ', removed: '-', added: '+' }[kind]} {text}
              </span>
            ))}
          </pre>
        </section>
      ))}
      {value.files.map(({ name, lines }) => (
        <section key={name}>
          <h2>{name}</h2>
          <Scroll label={name}>
            <table>
              <thead>
                <tr>
                  <th>Line</th>
                  <th>Written by</th>
                </tr>
              </thead>
              <tbody>
                {lines.map(({ text, isOwn }, index) => (
                  <tr key={`${index} ${text}`}>
                    <td class="text code">{text}</td>
                    <td>{text.trim() === '' || text.startsWith('#') ? '' : isOwn ? <span class="pill busy">extraConf</span> : 'the operator'}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        </section>
      ))}
      {value.files.length === 0 && (
        <section>
          <h2>extraConf of the Controller</h2>
          <pre>{value.extraConf === '' ? '(empty)' : value.extraConf}</pre>
        </section>
      )}
    </>
  );
}
