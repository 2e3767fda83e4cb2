/**
 * The two revisions of a StatefulSet: the one its pods came from and the one they go to. A template that equals an
 * older revision's gets that revision back with a higher number, so that going A → B → A makes no third one.
 */
import type { ControllerRevision, Pod, PodTemplate, StatefulSet } from '../../objects/objects.ts';
import { controllerReference } from '../../objects/pods.ts';
import { canonicalJson, templateHash } from '../../objects/template-hash.ts';
import type { TemplateRevision } from './build-pod.ts';
import type { Action } from './plan.ts';

type StoredRevision = TemplateRevision & { readonly object: Readonly<Record<string, unknown>> };

export interface Revisions {
  readonly current: TemplateRevision;
  readonly update: StoredRevision;
  readonly actions: readonly Action[];
}

interface RevisionData {
  readonly spec?: { readonly template?: PodTemplate & { readonly $patch?: string } };
}

export function reviseStatefulSet(
  set: StatefulSet,
  stored: readonly ControllerRevision[],
  pods: readonly Pod[],
): Revisions {
  const actions: Action[] = [];
  const history = stored.toSorted((a, b) => a.revision - b.revision);
  const data = { spec: { template: { $patch: 'replace', ...set.spec.template } } };
  const content = canonicalJson(data);
  const newest = history.at(-1);
  const equal = history.findLast((revision) => canonicalJson(revision.data) === content);
  const number = (newest?.revision ?? 0) + 1;

  let update: StoredRevision;
  if (equal === undefined) {
    const hash = templateHash(data, set.status?.collisionCount ?? 0);
    const name = `${set.metadata.name}-${hash}`;
    update = {
      metadata: { name },
      template: set.spec.template,
      object: {
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata: {
          name,
          ...(set.metadata.namespace === undefined ? {} : { namespace: set.metadata.namespace }),
          labels: { ...set.spec.selector.matchLabels, 'controller.kubernetes.io/hash': hash },
          ownerReferences: [controllerReference(set, 'apps/v1', 'StatefulSet')],
        },
        data,
        revision: number,
      },
    };
    actions.push({ do: 'createRevision', revision: update });
  } else {
    update = { metadata: { name: equal.metadata.name }, template: set.spec.template, object: {} };
    if (equal !== newest)
      actions.push({ do: 'renumberRevision', name: equal.metadata.name, revision: number });
  }

  const currentName = set.status?.currentRevision;
  const currentStored = history.find((revision) => revision.metadata.name === currentName);
  const current =
    currentStored === undefined
      ? update
      : { metadata: { name: currentStored.metadata.name }, template: templateOf(currentStored) };

  actions.push(...prune(set, history, pods, [current.metadata.name, update.metadata.name]));
  return { current, update, actions };
}

function templateOf(revision: ControllerRevision): PodTemplate {
  const { $patch: _directive, ...template } = (revision.data as RevisionData).spec?.template ?? {};
  return template;
}

/** Revisions that nothing uses are kept up to the history limit, oldest out first. */
function prune(
  set: StatefulSet,
  history: readonly ControllerRevision[],
  pods: readonly Pod[],
  kept: readonly string[],
): Action[] {
  const used = new Set([...kept, ...pods.map((pod) => pod.metadata.labels?.['controller-revision-hash'])]);
  const unused = history.filter((revision) => !used.has(revision.metadata.name));
  const excess = unused.length - (set.spec.revisionHistoryLimit ?? 10);
  return unused
    .slice(0, Math.max(0, excess))
    .map((revision) => ({ do: 'deleteRevision', name: revision.metadata.name }));
}
