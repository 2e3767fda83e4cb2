/** The review kinds: SubjectAccessReview, SelfSubjectRulesReview, SelfSubjectReview and so on. Nothing is stored. */

import { badRequest, type FieldFault, invalid } from '../../api/errors.ts';
import { invalidValue } from '../../api/fault.ts';
import { type KubeObject, timestamp, type UserInfo } from '../../api/types.ts';
import { updateManagedFields } from '../../apply/field-manager.ts';
import { authorize, heldRules } from '../../authorization/decide.ts';
import type { PolicyRule, RequestAttributes } from '../../authorization/policy-rule.ts';
import { rbacObjects } from '../../authorization/rule-resolver.ts';
import { userInfoOf } from '../../authorization/user-info.ts';
import { decodeObject } from '../../decode/decode-object.ts';
import { writeOptions } from '../../decode/write-options.ts';
import type { Answer } from '../../resource/answer.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import { groupVersion, type ResourceDefinition } from '../../resource/resource-definition.ts';
import { groupOf } from './define.ts';

type ReviewHandler = (review: KubeObject, context: RequestContext) => KubeObject;

export function accessReviews(): ResourceDefinition[] {
  const authentication = groupOf('authentication.k8s.io', 'v1');
  const authorization = groupOf('authorization.k8s.io', 'v1');
  const only = { verbs: ['create'] as const, namespaced: false };
  return [
    authentication({
      kind: 'SelfSubjectReview',
      plural: 'selfsubjectreviews',
      ...only,
      createAction: unmanaged(whoAmI),
    }),
    authentication({
      kind: 'TokenReview',
      plural: 'tokenreviews',
      ...only,
      createAction: managed(reviewToken),
    }),
    authorization({
      kind: 'LocalSubjectAccessReview',
      plural: 'localsubjectaccessreviews',
      ...only,
      namespaced: true,
      createAction: managed((review, context) => reviewAccess(review, subjectOf(review), context)),
    }),
    authorization({
      kind: 'SelfSubjectAccessReview',
      plural: 'selfsubjectaccessreviews',
      ...only,
      createAction: managed((review, context) => reviewAccess(review, context.user, context)),
    }),
    authorization({
      kind: 'SelfSubjectRulesReview',
      plural: 'selfsubjectrulesreviews',
      ...only,
      createAction: unmanaged(reviewRules),
    }),
    authorization({
      kind: 'SubjectAccessReview',
      plural: 'subjectaccessreviews',
      ...only,
      createAction: managed((review, context) => reviewAccess(review, subjectOf(review), context)),
    }),
  ];
}

/** Reads the review, lets the handler answer it, and notes who owns the fields that were sent. */
function managed(handle: ReviewHandler): NonNullable<ResourceDefinition['createAction']> {
  return async (context, definition) => {
    const { review, options } = await readReview(context, definition);
    const noted = updateManagedFields(context.parts.registry, undefined, review, {
      definition,
      subresource: '',
      manager: options.manager,
      apiVersion: groupVersion(definition),
      time: timestamp(context.parts.environment.now()),
    });
    return created(handle(noted, context));
  };
}

function unmanaged(handle: ReviewHandler): NonNullable<ResourceDefinition['createAction']> {
  return async (context, definition) =>
    created(handle((await readReview(context, definition)).review, context));
}

async function readReview(context: RequestContext, definition: ResourceDefinition) {
  const options = writeOptions(context, 'CreateOptions');
  const review = await decodeObject(context, definition, options);
  return { review, options };
}

function created(object: KubeObject): Answer {
  return { type: 'object', status: 201, object };
}

function whoAmI(_review: KubeObject, { user, parts }: RequestContext): KubeObject {
  return {
    kind: 'SelfSubjectReview',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { creationTimestamp: timestamp(parts.environment.now()) },
    status: { userInfo: userInfoOf(user) },
  };
}

function reviewToken(review: KubeObject, { parts }: RequestContext): KubeObject {
  const spec = (review['spec'] ?? {}) as { token?: string; audiences?: string[] };
  if (!spec.token) throw badRequest('token is required for TokenReview in authentication');
  const checked = parts.authenticator.checkToken(spec.token, spec.audiences ?? []);
  return {
    ...review,
    spec,
    status:
      'fault' in checked
        ? { user: {}, error: checked.fault }
        : { authenticated: true, user: userInfoOf(checked.user), audiences: checked.audiences },
  };
}

interface AccessSpec {
  readonly resourceAttributes?: {
    readonly namespace?: string;
    readonly verb?: string;
    readonly group?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly name?: string;
  };
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
}

const specOf = (review: KubeObject) => (review['spec'] ?? {}) as AccessSpec;

function subjectOf(review: KubeObject): UserInfo {
  const { user = '', groups = [] } = specOf(review);
  return { name: user, groups };
}

function validateReview(review: KubeObject): FieldFault[] {
  const { resourceAttributes, nonResourceAttributes, user = '', groups = [] } = specOf(review);
  const faults: FieldFault[] = [];
  const shown = nonResourceAttributes && {
    Path: nonResourceAttributes.path ?? '',
    Verb: nonResourceAttributes.verb ?? '',
  };
  const fault = (field: string, value: unknown, detail: string): void => {
    faults.push(invalidValue(`spec.${field}`, value, detail));
  };
  if (resourceAttributes && nonResourceAttributes)
    fault('nonResourceAttributes', shown, 'cannot be specified in combination with resourceAttributes');
  if (!resourceAttributes && !nonResourceAttributes)
    fault(
      'resourceAttributes',
      null,
      'exactly one of nonResourceAttributes or resourceAttributes must be specified',
    );
  if (review.kind !== 'SelfSubjectAccessReview' && user === '' && groups.length === 0)
    fault('user', '', 'at least one of user or group must be specified');
  if (review.kind !== 'LocalSubjectAccessReview') return faults;
  const { namespace = '' } = resourceAttributes ?? {};
  if (resourceAttributes && namespace !== review.metadata.namespace)
    fault('resourceAttributes.namespace', namespace, 'must match metadata.namespace');
  if (nonResourceAttributes) fault('nonResourceAttributes', shown, 'disallowed on this kind of request');
  return faults;
}

function reviewAccess(review: KubeObject, user: UserInfo, { parts, info }: RequestContext): KubeObject {
  if (info.namespace !== '') review.metadata.namespace ??= info.namespace;
  const faults = validateReview(review);
  if (faults.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', faults);
  const decision = authorize(rbacObjects(parts.store), user, attributesOf(specOf(review)));
  return {
    ...review,
    status: { allowed: decision.allowed, ...(decision.reason === '' ? {} : { reason: decision.reason }) },
  };
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: AccessSpec): RequestAttributes {
  if (nonResourceAttributes)
    return { kind: 'path', verb: nonResourceAttributes.verb ?? '', path: nonResourceAttributes.path ?? '' };
  const { namespace, verb = '', group = '', resource = '', subresource, name } = resourceAttributes ?? {};
  return {
    kind: 'resource',
    verb,
    apiGroup: group,
    resource,
    ...(subresource ? { subresource } : {}),
    ...(namespace ? { namespace } : {}),
    ...(name ? { name } : {}),
  };
}

function reviewRules(review: KubeObject, { user, parts }: RequestContext): KubeObject {
  const { namespace = '' } = (review['spec'] ?? {}) as { namespace?: string };
  if (namespace === '') throw badRequest('no namespace on request');
  const rules = heldRules(rbacObjects(parts.store), user, namespace);
  return {
    ...review,
    // The namespace asked for is not repeated in the answer.
    spec: {},
    status: {
      resourceRules: rules.filter((rule) => rule.resources?.length).map(resourceRule),
      nonResourceRules: rules
        .filter((rule) => rule.nonResourceURLs?.length)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
    },
  };
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): Record<string, unknown> {
  return { verbs, apiGroups, resources, ...(resourceNames?.length ? { resourceNames } : {}) };
}
