/** The desired slurm.conf of a Controller. Pure. */
import type { Problem } from '../../../framework/status/conditions.ts';
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import { reservedFiles } from '../../../rules/spec-rules.ts';
import type { RenderedConf } from '../../../slurm-config/conf-file.ts';
import {
  buildExternalSlurmConf,
  buildSlurmConf,
  type Scripts,
} from '../../../slurm-config/render/slurm-conf.ts';
import { UnsafeValueError } from '../../../slurm-config/setting.ts';
import type { ObservedController } from '../observe.ts';
import { asItMayBe } from './accounting-hold.ts';

/** slurm.conf as the specification asks for it, whatever that would cost; undefined while it cannot be rendered. */
export function desiredSlurmConf(given: ObservedController, defaults: OperatorDefaults): string | undefined {
  const { observed } = asItMayBe(given, defaults);
  return render(observed, imageOf(observed, defaults), [])?.text;
}

export const imageOf = ({ controller }: ObservedController, defaults: OperatorDefaults): string =>
  controller.spec.slurmctld?.image ?? defaults.images.slurmctld;

export function render(
  observed: ObservedController,
  image: string,
  problems: Problem[],
): RenderedConf | undefined {
  const { controller, accounting, nodeSets } = observed;
  // A file of the user's with that name would take the place of ours in the pod, untried.
  if (observed.configMaps.some(({ keys }) => reservedFiles.some((file) => keys?.[file] !== undefined)))
    return undefined;
  // Dropping accounting because its object is missing for a moment would make slurmctld forget it.
  if (controller.spec.accountingRef?.name && accounting === undefined) return undefined;
  try {
    return controller.spec.external
      ? buildExternalSlurmConf({ controller, accounting })
      : buildSlurmConf({
          controller,
          accounting,
          nodeSets,
          leavingWorkers: observed.leaving.reduce((sum, { workers }) => sum + workers, 0),
          scripts: scriptsOf(observed),
          image,
        });
  } catch (error) {
    if (!(error instanceof UnsafeValueError)) throw error;
    problems.push({ reason: 'InvalidSpec', message: error.message });
    return undefined;
  }
}

function scriptsOf({ controller, configMaps }: ObservedController): Scripts {
  const files = (refs: readonly { readonly name: string }[] | null | undefined): string[] =>
    (refs ?? []).flatMap(({ name }) => Object.keys(configMaps.find((map) => map.name === name)?.keys ?? {}));
  const { spec } = controller;
  return {
    prolog: files(spec.prologScriptRefs),
    epilog: files(spec.epilogScriptRefs),
    prologSlurmctld: files(spec.prologSlurmctldScriptRefs),
    epilogSlurmctld: files(spec.epilogSlurmctldScriptRefs),
  };
}
