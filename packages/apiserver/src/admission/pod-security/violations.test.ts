/** Each check with a pod that keeps to it and one that does not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { type Level, violations } from './violations.ts';

/** What "restricted" wants to hear. */
const hardened = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

const pod = (container: object, spec: object = {}, annotations: Record<string, string> = {}) => ({
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec } as unknown as IPodSpec,
  annotations,
});
const secure = (context: object, spec: object = {}) =>
  pod({ securityContext: { ...hardened, ...context } }, spec);

const cases: Readonly<Record<Level, Readonly<Record<string, readonly [ReturnType<typeof pod>, string]>>>> = {
  privileged: {},
  baseline: {
    'host namespaces': [
      pod({}, { hostNetwork: true, hostPID: true }),
      'host namespaces (hostNetwork=true, hostPID=true)',
    ],
    privileged: [
      pod({ securityContext: { privileged: true } }),
      'privileged (container "c" must not set securityContext.privileged=true)',
    ],
    'a privileged init container beside a privileged container': [
      pod(
        { securityContext: { privileged: true } },
        { initContainers: [{ name: 'i', image: 'i', securityContext: { privileged: true } }] },
      ),
      'privileged (containers "i", "c" must not set securityContext.privileged=true)',
    ],
    'more capabilities': [
      pod({ securityContext: { capabilities: { add: ['CHOWN', 'SYS_ADMIN', 'NET_ADMIN'] } } }),
      'non-default capabilities (container "c" must not include "NET_ADMIN", "SYS_ADMIN" in securityContext.capabilities.add)',
    ],
    'a path of the host': [
      pod(
        {},
        {
          volumes: [
            { name: 'v', hostPath: { path: '/' } },
            { name: 'w', emptyDir: {} },
          ],
        },
      ),
      'hostPath volumes (volume "v")',
    ],
    'a port of the host': [
      pod({ ports: [{ containerPort: 1, hostPort: 80 }, { containerPort: 2 }] }),
      'hostPort (container "c" uses hostPort 80)',
    ],
    'AppArmor off': [
      pod({ securityContext: { appArmorProfile: { type: 'Unconfined' } } }),
      'forbidden AppArmor profile (container "c" must not set AppArmor profile type to "Unconfined")',
    ],
    'AppArmor off, the old way': [
      pod({}, {}, { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' }),
      'forbidden AppArmor profile (container.apparmor.security.beta.kubernetes.io/c="unconfined")',
    ],
    'an SELinux type': [
      pod({}, { securityContext: { seLinuxOptions: { type: 'spc_t' } } }),
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions)',
    ],
    'an unmasked /proc': [
      pod({ securityContext: { procMount: 'Unmasked' } }),
      'procMount (container "c" must not set securityContext.procMount to other than "Default")',
    ],
    'seccomp off': [
      pod({ securityContext: { seccompProfile: { type: 'Unconfined' } } }),
      'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    'a sysctl': [
      pod({}, { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }),
      'forbidden sysctls (kernel.msgmax)',
    ],
    'a process of the host': [
      pod({ securityContext: { windowsOptions: { hostProcess: true } } }),
      'hostProcess (container "c" must not set securityContext.windowsOptions.hostProcess=true)',
    ],
  },
  restricted: {
    'a way to more rights': [
      secure({ allowPrivilegeEscalation: true }),
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
    ],
    'capabilities kept and added': [
      secure({ capabilities: { add: ['CHOWN'] } }),
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "CHOWN" in securityContext.capabilities.add)',
    ],
    'a volume of another kind': [
      secure({}, { volumes: [{ name: 'v', nfs: { server: 's', path: '/' } }] }),
      'restricted volume types (volume "v" uses restricted volume type "nfs")',
    ],
    'no user is set': [
      secure({ runAsNonRoot: undefined }),
      'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
    ],
    'a container that says otherwise than its pod': [
      secure({ runAsNonRoot: false }, { securityContext: { runAsNonRoot: true } }),
      'runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false)',
    ],
    root: [secure({ runAsUser: 0 }), 'runAsUser=0 (container "c" must not set runAsUser=0)'],
    'no seccomp profile': [
      secure({ seccompProfile: undefined }),
      'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ],
  },
};

for (const [level, table] of Object.entries(cases))
  describe(`the standard ${level}`, () => {
    for (const [what, [subject, said]] of Object.entries(table))
      test(`refuses ${what}`, () => assert.deepEqual(violations(level as Level, subject), [said]));
  });

test('an ordinary pod is fine for baseline, a hardened one for restricted, anything for privileged', () => {
  assert.deepEqual(
    violations('baseline', pod({ securityContext: { capabilities: { add: ['CHOWN'] } } })),
    [],
  );
  assert.deepEqual(violations('restricted', secure({}, { volumes: [{ name: 'v', configMap: {} }] })), []);
  const { allowPrivilegeEscalation, capabilities } = hardened;
  assert.deepEqual(
    violations(
      'restricted',
      pod(
        { securityContext: { allowPrivilegeEscalation, capabilities } },
        {
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'Localhost' } },
        },
      ),
    ),
    [],
    'the pod sets it for its containers',
  );
  assert.deepEqual(
    violations('privileged', pod({ securityContext: { privileged: true } }, { hostPID: true })),
    [],
  );
});

test('whatever baseline refuses, restricted refuses too', () => {
  for (const [subject] of Object.values(cases.baseline))
    assert.notDeepEqual(violations('restricted', subject), []);
});

test('an ordinary pod is told all that restricted wants, in a fixed order', () => {
  assert.deepEqual(
    violations('restricted', pod({})).map((one) => one.slice(0, one.indexOf(' ('))),
    [
      'allowPrivilegeEscalation != false',
      'unrestricted capabilities',
      'runAsNonRoot != true',
      'seccompProfile',
    ],
  );
  assert.deepEqual(
    violations('restricted', pod({}, { os: { name: 'windows' }, securityContext: { runAsNonRoot: true } })),
    [],
    'Windows has none of the rest',
  );
});
