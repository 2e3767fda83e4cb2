/** The Kubernetes that is given: KUBECONFIG, or KUBEBUILDER_ASSETS with binaries, as one or two backends to run cases on. */
import { startAssets } from './assets-backend.ts';
import type { Backend } from './backend.ts';
import type { RecordedCase } from './case.ts';
import { ClusterRun, type Outcome } from './cluster-run.ts';
import { givenCluster } from './given-cluster.ts';

export interface GivenOptions {
  readonly kubeconfig?: string | undefined;
  readonly assets?: string | undefined;
  readonly allowDisruptive: boolean;
}

export interface GivenBackend {
  readonly name: string;
  /**
   * Runs the cases in the given order and reports each. On binaries, first all that an API server alone can answer: what
   * needs controllers waits for them, and nothing that was recorded without them meets them.
   */
  replayAll(
    cases: readonly RecordedCase[],
    report: (recorded: RecordedCase, outcome: Outcome) => Promise<void> | void,
  ): Promise<void>;
  stop(): Promise<void>;
}

/** Undefined when neither is given. */
export async function givenBackend({
  kubeconfig,
  assets,
  allowDisruptive,
}: GivenOptions): Promise<GivenBackend | undefined> {
  if (kubeconfig !== undefined) {
    const backend = givenCluster(kubeconfig);
    return { name: backend.name, replayAll: onOne(backend, allowDisruptive), stop: () => Promise.resolve() };
  }
  if (assets === undefined) return undefined;
  const { backend, startControllers, stop } = await startAssets(assets);
  return {
    name: backend.name,
    async replayAll(cases, report) {
      const later: RecordedCase[] = [];
      // Binaries that we started serve no one else: nothing there can be disrupted.
      await onOne(backend, true)(cases, (recorded, outcome) =>
        outcome.result === 'not run' ? void later.push(recorded) : report(recorded, outcome),
      );
      const controlled = startControllers();
      if (controlled !== undefined) return onOne(controlled, true)(later, report);
      const why = `${assets} holds no kube-controller-manager`;
      for (const recorded of later) await report(recorded, { result: 'not run', why });
    },
    stop,
  };
}

function onOne(backend: Backend, allowDisruptive: boolean): GivenBackend['replayAll'] {
  return async (cases, report) => {
    const run = await ClusterRun.start(backend, allowDisruptive);
    try {
      for (const recorded of cases) await report(recorded, await run.replay(recorded));
    } finally {
      await run.stop();
    }
  };
}
