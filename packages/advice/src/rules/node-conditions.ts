/** E (continued): reserved, powered down, too old, without a pod. */
import { expandHostlist, isDown, isMaintenance, isNotResponding, isPowering } from '@slurm-operator/slurm';
import { family, rule } from '../finding.ts';
import { count, listed, moment, quote, shellWord } from '../text/text.ts';
import { isWorker, slurmName, withReason } from './read.ts';
import { nodesOf, related, subjectOf } from './slurm-nodes.ts';

export const nodeConditionRules = family('slurm-nodes', [
  rule({
    id: 'E9',
    title: 'Nodes are reserved for maintenance',
    severity: 'info',
    needs: ['slurmNodes', 'reservations'],
    *find({ slurmNodes, reservations }, context) {
      for (const { name, flags, nodes, startsAt, endsAt } of reservations) {
        if (!flags.includes('MAINT') || startsAt === undefined || startsAt > context.now) continue;
        const inside = new Set(expandHostlist(nodes));
        const mine = slurmNodes.filter((node) => inside.has(node.name) && isMaintenance(node.state));
        yield {
          subject: { kind: 'Reservation', name },
          says: `${nodes} ${inside.size === 1 ? 'is' : 'are'} reserved for maintenance${endsAt === undefined ? '' : ` until ${moment(endsAt, context)}`} (${name}).`,
          fix: [`kubectl slurm scontrol -- show reservation ${shellWord(name)}`],
          related: related(mine),
        };
      }
    },
  }),
  rule({
    id: 'E10',
    title: 'Slurm refuses the topology of a node',
    severity: 'warning',
    needs: ['nodeSets'],
    *find({ nodeSets }) {
      for (const object of nodeSets) {
        const found = withReason(object, ['UpdateRefused']);
        if (found !== undefined)
          yield {
            subject: { kind: 'NodeSet', name: object.metadata.name },
            says: quote(found.message, 400),
            fix: [
              'Correct the annotation topology.slinky.slurm.net/spec of the Node, or extend topology.yaml.',
            ],
            doc: 'how-to/topology.md',
          };
      }
    },
  }),
  rule({
    id: 'E11',
    title: 'slurmd is too old for slurmctld',
    needs: ['slurmNodes', 'clusters'],
    *find({ slurmNodes, clusters }) {
      const controller = yearOf(clusters[0]?.status?.slurmVersion ?? '');
      if (controller === undefined) return;
      // slurmctld accepts a slurmd of the three releases before its own, which are half a year apart.
      const old = slurmNodes.filter(({ version }) => {
        const own = yearOf(version);
        return own !== undefined && controller - own > 1.6;
      });
      for (const [version, mine] of Map.groupBy(old, (node) => node.version))
        yield {
          subject: subjectOf(mine),
          says: `slurmd ${version} on ${nodesOf(mine)} is too old for slurmctld ${clusters[0]?.status?.slurmVersion ?? ''}.`,
          fix: ['Set a newer image in the NodeSet: kubectl slurm plan nodeset/NAME --image …'],
          doc: 'slurm-versions.md',
          related: related(mine),
        };
    },
  }),
  rule({
    id: 'E15',
    title: 'A node is powered down or powering up',
    severity: 'info',
    needs: ['slurmNodes'],
    *find({ slurmNodes }) {
      const mine = slurmNodes.filter((node) => isPowering(node.state));
      if (mine.length > 0)
        yield {
          subject: subjectOf(mine),
          says: `${nodesOf(mine)} ${mine.length === 1 ? 'is' : 'are'} powered down or powering up: Slurm starts them when jobs need them.`,
          fix: ['kubectl slurm nodes'],
          related: related(mine),
        };
    },
  }),
  rule({
    id: 'E17',
    title: 'Slurm has nodes without a pod',
    severity: 'warning',
    needs: ['slurmNodes', 'pods', 'nodeSets'],
    *find({ slurmNodes, pods, nodeSets }) {
      const names = new Set(pods.filter(isWorker).map(slurmName));
      const prefixes = nodeSets.map(({ metadata }) => `${metadata.name}-`);
      const left = slurmNodes.filter(
        (node) =>
          !names.has(node.name) &&
          (isDown(node.state) || isNotResponding(node.state)) &&
          node.state.flags.has('DYNAMIC_NORM') &&
          prefixes.some((prefix) => node.name.startsWith(prefix)),
      );
      if (left.length > 0)
        yield {
          subject: subjectOf(left),
          says: `Slurm has ${count(left.length, 'node')} without a pod: ${listed(left.map(({ name }) => name))}.`,
          fix: [`kubectl slurm scontrol -- delete nodename=${nodesOf(left)}`],
          related: related(left),
        };
    },
  }),
]);

/** `26.05.4` as years: releases come every half year. */
function yearOf(version: string): number | undefined {
  const found = /^(\d\d)\.(\d\d)/.exec(version);
  return found === null ? undefined : Number(found[1]) + Number(found[2]) / 12;
}
