import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterDomainOf } from './cluster-domain.ts';

for (const { reason, text, domain } of [
  {
    reason: 'the kubelet writes the domain behind svc.',
    text: 'search slinky.svc.corp.example svc.corp.example corp.example\nnameserver 10.96.0.10\noptions ndots:5\n',
    domain: 'corp.example',
  },
  {
    reason: 'the searches of the node follow those of the cluster',
    text: 'nameserver 10.96.0.10\nsearch slinky.svc.k8s.local svc.k8s.local k8s.local svc.internal example.com\n',
    domain: 'k8s.local',
  },
  {
    reason: 'a trailing dot is not part of the domain',
    text: 'search a.svc.cluster.local. svc.cluster.local. cluster.local.\n',
    domain: 'cluster.local',
  },
  {
    reason: 'the last search line counts, as in the resolver',
    text: 'search old.example\nsearch a.svc.one svc.one one\n',
    domain: 'one',
  },
  { reason: 'outside of a cluster there is none', text: 'nameserver 1.1.1.1\nsearch example.com\n' },
  { reason: 'a comment is no search', text: '# search a.svc.x svc.x x\n; search svc.y\n' },
  { reason: 'what is no domain is not used', text: 'search svc.a_b/c\n' },
  { reason: 'an empty file', text: '' },
])
  test(reason, () => assert.equal(clusterDomainOf(text), domain));
