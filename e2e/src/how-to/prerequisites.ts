/** What the pages take for granted: a directory of people and a claim, as manifests; and what Slurm needs on one small machine. */

import { ldap, neighbour, smallMachineLines } from '@slurm-operator/demo/install';
import { imageTag } from '@slurm-operator/images';
import { people } from '@slurm-operator/images/testing';
import { stringify } from 'yaml';
import type { Manifest } from './page.ts';

const list = (...objects: readonly object[]) =>
  objects.map((object) => stringify(object, { version: '1.1' })).join('---\n');

/** The Controller of a page, for containers without control groups; its own lines and files stay. */
export function small(controller: Manifest): Manifest {
  const spec = (controller.spec ??= {});
  const own = (spec['extraConf'] as string | undefined) ?? '';
  const lines = [
    ...smallMachineLines,
    'TaskPlugin=task/none',
    'JobAcctGatherType=jobacct_gather/none',
    'SelectTypeParameters=CR_CPU',
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
export function directory(publicKey: string): string {
  const suffix = 'dc=example,dc=com';
  const { service, deployment } = neighbour({
    ...ldap(imageTag('ldap'), 'people'),
    servedAt: 389,
    env: [{ name: 'LDAP_SUFFIX', value: suffix }],
  });
  const data = { 'people.ldif': people({ suffix, more: `description: ${publicKey.trim()}\n` }) };
  const seed = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'people' }, data };
  return list(seed, service, deployment);
}
