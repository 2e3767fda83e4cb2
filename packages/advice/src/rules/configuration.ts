/** B (continued): configuration that is rejected, held back, untried, or refers to what does not exist. */
import { family, rule } from '../finding.ts';
import { quote } from '../text/text.ts';
import { withReason } from './read.ts';

export const configurationRules = family('control-plane', [
  rule({
    id: 'B7',
    title: 'slurmctld would reject the new configuration',
    needs: ['controllers'],
    *find({ controllers }) {
      for (const object of controllers) {
        const found = withReason(object, ['ConfigRejected']);
        if (found !== undefined)
          yield {
            subject: { kind: 'Controller', name: object.metadata.name },
            says: quote(found.message, 400),
            fix: ['Correct the line that the message quotes.'],
            doc: 'configuration-changes.md',
          };
      }
    },
  }),
  rule({
    id: 'B14',
    title: 'Part of the configuration is held back for jobs',
    severity: 'warning',
    needs: ['controllers'],
    *find({ controllers }) {
      for (const object of controllers) {
        const found = withReason(object, ['ConfigHeld']);
        if (found !== undefined)
          yield {
            subject: { kind: 'Controller', name: object.metadata.name },
            says: `Part of slurm.conf is held back: ${quote(found.message, 500)}`,
            fix: ['Wait, move or cancel these jobs.'],
            doc: 'configuration-changes.md',
          };
      }
    },
  }),
  rule({
    id: 'B15',
    title: 'The new configuration could not be tried',
    severity: 'warning',
    needs: ['controllers'],
    *find({ controllers }, { namespace }) {
      for (const object of controllers) {
        const found = withReason(object, ['ConfigUntried']);
        if (found !== undefined)
          yield {
            subject: { kind: 'Controller', name: object.metadata.name },
            says: `The new configuration could not be tried, the old one stays in use: ${quote(found.message, 400)}`,
            fix: [`kubectl -n ${namespace} describe pod ${object.metadata.name}-config-check`],
          };
      }
    },
  }),
  rule({
    id: 'B17',
    title: 'The volume does not support the requested change',
    severity: 'warning',
    needs: ['controllers'],
    *find({ controllers }) {
      for (const object of controllers) {
        const found = withReason(object, ['VolumeUnchangeable']);
        if (found !== undefined)
          yield {
            subject: { kind: 'Controller', name: object.metadata.name },
            says: quote(found.message, 400),
            fix: ['Revert the field, or request only a larger size.'],
            doc: 'how-to/storage.md#for-slurmctld',
          };
      }
    },
  }),
  rule({
    id: 'B18',
    title: 'A referenced object is missing or invalid',
    needs: ['controllers', 'nodeSets', 'loginSets', 'accountings', 'restApis', 'clusters'],
    *find(values, { namespace }) {
      for (const object of Object.values(values).flat()) {
        const found = withReason(object, [
          'SecretNotFound',
          'ConfigMapNotFound',
          'InvalidKey',
          'ControllerNotFound',
          'AccountingNotFound',
          'InvalidSpec',
        ]);
        if (found !== undefined)
          yield {
            subject: { kind: object.kind, name: object.metadata.name },
            says: `${object.kind} ${object.metadata.name}: ${quote(found.message, 400)}`,
            fix: [`kubectl -n ${namespace} edit ${object.kind.toLowerCase()} ${object.metadata.name}`],
          };
      }
    },
  }),
  rule({
    id: 'B19',
    title: 'slurmd of workers exited after a configuration change',
    needs: ['controllers'],
    *find({ controllers }) {
      for (const object of controllers) {
        const found = withReason(object, ['WorkersEnded']);
        if (found !== undefined)
          yield {
            subject: { kind: 'Controller', name: object.metadata.name },
            says: quote(found.message, 500),
            fix: ['Revert the change; the workers restart automatically.'],
          };
      }
    },
  }),
]);
