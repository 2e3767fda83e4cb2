import type { LiveCluster } from '../live-cluster.ts';
import { useEvery, useRead } from '../use-read.ts';

interface ConfigurationBody {
  readonly extraConf: string;
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string; readonly message: string }[];
}

export function Configuration({ live }: { live: LiveCluster }) {
  const { value, problem } = useRead<ConfigurationBody>(`${live.base}/configuration`, useEvery(10_000));
  if (value === undefined) return <p class={problem === '' ? 'quiet' : 'notice bad'}>{problem === '' ? 'Reading…' : problem}</p>;
  return (
    <section>
      <h2 class="page">Configuration</h2>
      <dl>
        {value.conditions.map(({ type, status, reason, message }) => (
          <>
            <dt>{type}</dt>
            <dd>
              {status} <span class="quiet">{reason}: {message}</span>
            </dd>
          </>
        ))}
      </dl>
      <h2>extraConf of the Controller</h2>
      <pre>{value.extraConf === '' ? '(empty)' : value.extraConf}</pre>
    </section>
  );
}
