/**
 * The API server of the benchmark, in a process of its own. Sends its kubeconfig over the IPC channel, and for each message how often the
 * operator has requested what so far.
 */
import { type AuditEntry, startApiServer } from '@slurm-operator/apiserver';

const server = await startApiServer({ auditLimit: 500_000 });
let counted = 0;
const counts = new Map<string, number>();
process.on('disconnect', () => process.exit(0));
process.on('message', () => {
  const entries = server.audit.find(
    ({ id, userAgent }) => id > counted && userAgent.startsWith('slurm-operator'),
  );
  for (const entry of entries) counts.set(nameOf(entry), (counts.get(nameOf(entry)) ?? 0) + 1);
  counted = server.audit.total;
  process.send?.({ counts: Object.fromEntries(counts) });
});
process.send?.({ kubeconfig: server.kubeconfig() });

const nameOf = ({ verb, resource, subresource }: AuditEntry): string =>
  subresource === '' ? `${verb} ${resource}` : `${verb} ${resource}/${subresource}`;
