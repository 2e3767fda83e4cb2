/** What the pages take for granted: a directory of people and a claim, as manifests; and what Slurm needs on one small machine. */
import { imageTag } from '@slurm-operator/images';
import { stringify } from 'yaml';
import { alice } from '../people.ts';
import type { Manifest } from './page.ts';

const list = (...objects: readonly object[]) => objects.map((object) => stringify(object)).join('---\n');

/** The Controller of a page, for containers without control groups; its own lines and files stay. */
export function small(controller: Manifest): Manifest {
  const spec = (controller.spec ??= {});
  const own = (spec['extraConf'] as string | undefined) ?? '';
  const lines = [
    'SlurmdParameters=config_overrides',
    'ProctrackType=proctrack/linuxproc',
    'TaskPlugin=task/none',
    'JobAcctGatherType=jobacct_gather/none',
    'SelectTypeParameters=CR_CPU',
    'SchedulerParameters=batch_sched_delay=0,sched_interval=1',
    'NodeSet=cloud Feature=cloud',
    'PartitionName=cloud Nodes=cloud',
  ];
  spec['extraConf'] = `${lines.join('\n')}\n${own}`;
  spec['configFileRefs'] = [{ name: 'small' }, ...((spec['configFileRefs'] as object[] | undefined) ?? [])];
  return controller;
}

export const claim = (name: string, mode: string): string =>
  list({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: [mode], resources: { requests: { storage: '1Gi' } } },
  });

/** A directory with alice in it; her key is in an attribute that every inetOrgPerson has. */
export function ldap(publicKey: string): string {
  const labels = { app: 'ldap' };
  const people = `dn: dc=example,dc=com
objectClass: dcObject
objectClass: organization
o: Example
dc: example

${alice('dc=example,dc=com', `description: ${publicKey.trim()}\n`)}`;
  const container = {
    name: 'ldap',
    image: imageTag('ldap'),
    imagePullPolicy: 'IfNotPresent',
    env: [{ name: 'LDAP_SUFFIX', value: 'dc=example,dc=com' }],
    readinessProbe: { tcpSocket: { port: 1389 }, periodSeconds: 1 },
    volumeMounts: [{ name: 'seed', mountPath: '/seed' }],
  };
  return list(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'people' }, data: { 'people.ldif': people } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'ldap' },
      spec: { selector: labels, ports: [{ port: 389, targetPort: 1389 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'ldap' },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [container], volumes: [{ name: 'seed', configMap: { name: 'people' } }] },
        },
      },
    },
  );
}
