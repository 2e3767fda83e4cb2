/** slurm.conf as it is in force, who wrote each line, and what is held back or refused. */
import type { LiveCluster } from '../live-cluster.ts';
import { Scroll } from '../scroll.tsx';
import { useEvery, useRead } from '../use-read.ts';

interface ConfigurationBody {
  readonly extraConf: string;
  readonly held: unknown;
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
          <h2>Held back</h2>
          <pre>{JSON.stringify(value.held, null, 2)}</pre>
        </section>
      )}
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
