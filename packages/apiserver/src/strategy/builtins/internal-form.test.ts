import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { internalDiff } from './internal-form.ts';
import { unifiedDiff } from './line-diff.ts';

const pod = {
  containers: [
    {
      name: 'c',
      image: 'img:1',
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'IfNotPresent',
    },
  ],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  automountServiceAccountToken: false,
  securityContext: {},
  schedulerName: 'default-scheduler',
};

describe('internalDiff', () => {
  it('shows a changed node name where the real server shows it', () => {
    assert.equal(
      internalDiff('PodSpec', pod, { ...pod, nodeName: 'n' }),
      '@@ -42,7 +42,7 @@\n  "NodeSelector": null,\n  "ServiceAccountName": "default",\n  "AutomountServiceAccountToken": false,\n- "NodeName": "",\n+ "NodeName": "n",\n  "SecurityContext": {\n   "HostNetwork": false,\n   "HostPID": false,\n',
    );
  });
  it('counts the lines of the security context before the host name', () => {
    assert.equal(
      internalDiff('PodSpec', pod, { ...pod, hostname: 'h' }),
      '@@ -64,7 +64,7 @@\n   "SELinuxChangePolicy": null\n  },\n  "ImagePullSecrets": null,\n- "Hostname": "",\n+ "Hostname": "h",\n  "Subdomain": "",\n  "SetHostnameAsFQDN": null,\n  "Affinity": null,\n',
    );
  });
  it('shows a claim the same way', () => {
    const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    assert.equal(
      internalDiff('PersistentVolumeClaimSpec', claim, {
        ...claim,
        resources: { requests: { storage: '2Gi' } },
      }),
      '@@ -6,7 +6,7 @@\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": "",\n',
    );
  });
  it('is empty when nothing changed', () => assert.equal(internalDiff('PodSpec', pod, { ...pod }), ''));
});

describe('unifiedDiff', () => {
  it('keeps changes that are far apart in hunks of their own', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
    const changed = lines.with(2, 'two').with(17, 'seventeen');
    const hunks = unifiedDiff(lines.join('\n'), changed.join('\n')).match(/^@@.*@@$/gm);
    assert.deepEqual(hunks, ['@@ -1,6 +1,6 @@', '@@ -15,6 +15,6 @@']);
  });
});
