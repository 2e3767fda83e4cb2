/** Where each kind is reviewed. Paths and names are upstream's, so that configurations written for it keep working. */
import { group, version } from '@slurm-operator/api';

export const reviewedKinds = ['Controller', 'Accounting', 'LoginSet', 'NodeSet', 'RestApi', 'Token'] as const;
export type ReviewedKind = (typeof reviewedKinds)[number];

export const validatePath = (kind: ReviewedKind): string =>
  `/validate-${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}`;

export const webhookName = (kind: ReviewedKind): string => `${kind.toLowerCase()}-${version}.kb.io`;

export const bindingPath = '/mutate--v1-binding';
export const bindingName = 'podsbinding-v1.kb.io';
