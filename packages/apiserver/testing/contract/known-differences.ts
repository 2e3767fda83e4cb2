/**
 * Recorded cases that the embedded server does not answer as a real one does, each with its weight and reason. The report
 * prints them; a case that passes again must leave the list.
 */

import type { Weight } from './weights.ts';

export interface KnownDifference {
  readonly weight: Weight;
  readonly reason: string;
}

export const knownDifferences: Readonly<Record<string, KnownDifference>> = {
  'builtins/29-pod-resize': { weight: 'B', reason: '501 (declared): pods/resize' },
  'builtins/43-autoscaler': {
    weight: 'B',
    reason: 'HorizontalPodAutoscaler: no defaults, no checks, no autoscaling/v1',
  },
  'discovery/10-apiservices': {
    weight: 'B',
    reason: '501 by name: neither the product nor its charts, kubectl or helm ask for APIServices',
  },
  'discovery/14-openid-and-others': {
    weight: 'B',
    reason: '501 by name: OpenID documents of the issuer, which only other clusters and clouds read',
  },
};
