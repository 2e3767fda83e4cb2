/** D (continued): workers that cannot be created as they are described. */
import { family, rule } from '../finding.ts';
import { listed, quote } from '../text/text.ts';
import { containerStates, isTerminating, isWorker, slurmName, withReason } from './read.ts';

export const workerSetupRules = family('workers', [
  rule({
    id: 'D10',
    title: 'Two workers claim the same Slurm node',
    needs: ['nodeSets', 'pods'],
    *find({ nodeSets, pods }) {
      const byName = Map.groupBy(
        pods.filter((pod) => isWorker(pod) && !isTerminating(pod)),
        slurmName,
      );
      for (const [name, mine] of byName)
        if (mine.length > 1)
          yield {
            subject: { kind: 'SlurmNode', name },
            says: `The Slurm node ${name} is claimed by ${listed(mine.map(({ metadata }) => `pod ${metadata.name}`))}.`,
            fix: ['Set a different template.spec.hostname in one of the NodeSets.'],
          };
      for (const object of nodeSets) {
        const found = withReason(object, ['NameConflict']);
        if (found !== undefined)
          yield {
            subject: { kind: 'NodeSet', name: object.metadata.name },
            says: quote(found.message, 400),
            fix: ['Rename or delete one of the two, or set template.spec.hostname.'],
          };
      }
    },
  }),
  rule({
    id: 'D16',
    title: 'A volume of a pod cannot be mounted',
    needs: ['pods', 'events'],
    *find({ pods, events }) {
      const starting = new Map(
        pods
          .filter((pod) =>
            containerStates(pod).some(({ waiting }) => /ContainerCreating|PodInitializing/.test(waiting)),
          )
          .map((pod) => [pod.metadata.name, pod]),
      );
      const seen = new Set<string>();
      for (const { reason, regarding, note } of events) {
        const name = regarding?.name ?? '';
        if (!/FailedMount|FailedAttachVolume|FailedMapVolume/.test(reason ?? '')) continue;
        if (!starting.has(name) || seen.has(name)) continue;
        seen.add(name);
        yield {
          subject: { kind: 'Pod', name },
          says: `${name} cannot start: a volume cannot be mounted.`,
          because: [quote(note ?? '')],
          fix: ['Check the Secret, ConfigMap or claim that the event names.'],
        };
      }
    },
  }),
  rule({
    id: 'D17',
    title: 'The claim of a worker is not bound',
    needs: ['claims', 'pods'],
    *find({ claims, pods }, { namespace }) {
      const used = new Map(
        pods
          .filter(isWorker)
          .flatMap((pod) =>
            (pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
              persistentVolumeClaim === undefined ? [] : [[persistentVolumeClaim.claimName, pod] as const],
            ),
          ),
      );
      for (const { metadata, status } of claims) {
        const pod = used.get(metadata.name);
        if (status?.phase !== 'Pending' || pod === undefined) continue;
        yield {
          subject: { kind: 'PersistentVolumeClaim', name: metadata.name },
          says: `${pod.metadata.name} waits for the volume of claim ${metadata.name}.`,
          fix: [`kubectl -n ${namespace} describe pvc ${metadata.name}`],
        };
      }
    },
  }),
  rule({
    id: 'D18',
    title: 'A worker is smaller or larger than Slurm believes',
    severity: 'warning',
    needs: ['nodeSets'],
    *find({ nodeSets }) {
      for (const object of nodeSets) {
        const found = withReason(object, ['ResourcesMismatch']);
        if (found !== undefined)
          yield {
            subject: { kind: 'NodeSet', name: object.metadata.name },
            says: quote(found.message, 400),
            fix: ['Compare "kubectl slurm scontrol -- show node" with the limits of slurmd and extraConf.'],
            doc: 'how-to/gpus.md',
          };
      }
    },
  }),
  rule({
    id: 'D19',
    title: 'A template has fields that Kubernetes does not know',
    severity: 'warning',
    needs: ['nodeSets', 'controllers', 'loginSets', 'restApis', 'accountings'],
    *find(values) {
      for (const object of Object.values(values).flat()) {
        const found = withReason(object, ['FieldIgnored', 'ApplyFailed']);
        if (found !== undefined)
          yield {
            subject: { kind: object.kind, name: object.metadata.name },
            says: `${object.kind} ${object.metadata.name}: ${quote(found.message, 400)}`,
            fix: ['Correct or remove the fields that the message names.'],
          };
      }
    },
  }),
  rule({
    id: 'D20',
    title: 'A worker pod is missing',
    needs: ['nodeSets', 'pods', 'events'],
    *find({ nodeSets, pods, events }) {
      for (const { metadata, spec } of nodeSets) {
        if (spec.scalingMode === 'DaemonSet') continue;
        const mine = pods.filter(
          (pod) => isWorker(pod) && pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid),
        );
        const failed = events.findLast(
          ({ regarding, reason }) => regarding?.name === metadata.name && /FailedCreate/.test(reason ?? ''),
        );
        if (mine.length >= (spec.replicas ?? 1) || failed === undefined) continue;
        yield {
          subject: { kind: 'NodeSet', name: metadata.name },
          says: `${(spec.replicas ?? 1) - mine.length} of ${spec.replicas ?? 1} workers of ${metadata.name} cannot be created: ${quote(failed.note ?? '')}`,
          fix: [`kubectl -n ${metadata.namespace} describe nodeset ${metadata.name}`],
          after: [{ rule: 'A6' }, { rule: 'A7' }],
        };
      }
    },
  }),
]);
