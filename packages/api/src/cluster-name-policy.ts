/**
 * A CRD's rules cannot see the namespace, so the length of the derived ClusterName `<namespace>_<name>` is
 * checked by a ValidatingAdmissionPolicy: CEL too, and no server of ours.
 */
import { group, version } from './well-known.ts';

const name = `controller-cluster-name.${group}`;

/** The policy and its binding. */
export const clusterNamePolicy: readonly object[] = [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          { apiGroups: [group], apiVersions: [version], operations: ['CREATE'], resources: ['controllers'] },
        ],
      },
      validations: [
        {
          expression:
            'has(object.spec.clusterName) || size(object.metadata.namespace) + 1 + size(object.metadata.name) <= 40',
          message:
            'without spec.clusterName the cluster is called <namespace>_<name>, which may have at most 40 characters: set spec.clusterName',
          messageExpression:
            "'without spec.clusterName the cluster is called ' + object.metadata.namespace + '_' + object.metadata.name + ', which has more than 40 characters: set spec.clusterName'",
          reason: 'Invalid',
        },
      ],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  },
];
