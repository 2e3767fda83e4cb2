/**
 * What was made of each object the last time. Objects in caches and views never change, they are replaced: the same object means the
 * same facts. So a look at a NodeSet of thousands costs what changed since the last look, and little for all the others.
 *
 * One for each NodeSet; all of it may be lost. What is gone from the caches is gone from here.
 */
import type { DeepReadonly, Node, Pod } from '@slurm-operator/kube';
import type { Deadline, SlurmNode as ListedNode } from '@slurm-operator/slurm';
import type { NodeConditionRule } from '../model/node-conditions.ts';
import type { KubeNode, SlurmNode, Worker } from '../model/observed.ts';
import type { Placement } from '../objects/worker-placement.ts';
import { observeNode } from './observe-node.ts';
import { observeSlurmNode, type SetIdentity } from './observe-slurm.ts';
import { observeWorker } from './observe-worker.ts';

export class SeenBefore {
  readonly #workers = new WeakMap<object, Worker | 'none of ours'>();
  readonly #nodes = new Facts<DeepReadonly<Node>, KubeNode>();
  readonly #slurmNodes = new Facts<
    ListedNode,
    { readonly deadline: Deadline | undefined; node: SlurmNode }
  >();
  #looks = 0;

  /** How many objects had to be looked at so far because they were new or had changed. */
  get looks(): number {
    return this.#looks;
  }

  /** Whether its machine is reachable is not the pod's own fact: it is asked each time. */
  worker(pod: DeepReadonly<Pod>, reachable: (node: string) => boolean): Worker | undefined {
    const known = this.#workers.get(pod);
    if (known === 'none of ours') return undefined;
    if (known === undefined) {
      this.#looks += 1;
      const worker = observeWorker(pod, reachable);
      this.#workers.set(pod, worker ?? 'none of ours');
      return worker;
    }
    const nodeReachable = known.nodeName === undefined || reachable(known.nodeName);
    if (nodeReachable === known.nodeReachable) return known;
    const worker = { ...known, nodeReachable };
    this.#workers.set(pod, worker);
    return worker;
  }

  node(node: DeepReadonly<Node>, placement: Placement, propagated: readonly NodeConditionRule[]): KubeNode {
    return this.#nodes.of(node, placement, () => {
      this.#looks += 1;
      return observeNode(node, placement, propagated);
    });
  }

  slurmNode(node: ListedNode, deadline: Deadline | undefined, set: SetIdentity): SlurmNode {
    const fact = this.#slurmNodes.of(
      node,
      set,
      () => {
        this.#looks += 1;
        return { deadline, node: observeSlurmNode(node, deadline, set) };
      },
      (known) => known.deadline === deadline,
    );
    return fact.node;
  }
}

/** Facts about objects that depend on something of the NodeSet too; when that changes, they are all computed again. */
class Facts<Of extends object, Fact> {
  #known = new WeakMap<Of, Fact>();
  #about: object | undefined;
  #aboutText = '';

  of(object: Of, about: object, find: () => Fact, stillHolds: (fact: Fact) => boolean = () => true): Fact {
    if (about !== this.#about) {
      const text = JSON.stringify(about);
      if (text !== this.#aboutText) this.#known = new WeakMap();
      this.#about = about;
      this.#aboutText = text;
    }
    const known = this.#known.get(object);
    if (known !== undefined && stillHolds(known)) return known;
    const fact = find();
    this.#known.set(object, fact);
    return fact;
  }
}
