import { Scroll } from '../scroll.tsx';
import type { Me } from '../me.ts';

const words: Readonly<Record<string, string>> = {
  see: 'see the cluster',
  seeAllJobs: "see everyone's jobs",
  submit: 'submit jobs',
  changeJobs: 'hold, release and requeue jobs',
  cancelJobs: 'cancel jobs',
  changeNodes: 'drain and resume nodes',
  seeConfiguration: 'see the configuration',
  changeRollouts: 'pause and resume rollouts',
};

export function AboutMe({ me }: { me: Me }) {
  return (
    <section>
      <h2 class="page">{me.user}</h2>
      <p class="quiet">Groups: {me.groups.join(', ') || 'none'}</p>
      <Scroll label="Your rights">
        <table>
          <thead>
            <tr>
              <th>Cluster</th>
              <th>In Slurm you are</th>
              <th>You may</th>
              <th>You may not</th>
            </tr>
          </thead>
          <tbody>
            {me.clusters.map(({ namespace, name, slurm, rights }) => (
              <tr key={`${namespace}/${name}`}>
                <td>
                  {name} <span class="quiet">{namespace}</span>
                </td>
                <td>{slurm.kind === 'user' ? slurm.name : `no user: ${slurm.why}`}</td>
                <td>{listed(rights, true)}</td>
                <td class="quiet">{listed(rights, false)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function listed(rights: Readonly<Record<string, boolean>>, wanted: boolean): string {
  return Object.entries(rights)
    .filter(([, may]) => may === wanted)
    .map(([right]) => words[right] ?? right)
    .join(', ');
}
