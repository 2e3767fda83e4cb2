/** The Controller with what waits for its Accounting left out: everything else about it may change meanwhile. Pure. */
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import type { ObservedController } from '../observe.ts';
import { accountingHold, accountingStart, type Hold } from './accounting-order.ts';

export function asItMayBe(given: ObservedController, defaults: OperatorDefaults) {
  const hold = holdOf(given, defaults);
  const start = startOf(given);
  const known = start === undefined ? given : withoutAccounting(given);
  return { hold, start, observed: hold === undefined ? known : withImageThatRuns(known) };
}

function startOf({ controller, accounting, withoutAccounting: without, slurmdbd }: ObservedController) {
  if (controller.spec.external || accounting === undefined || accounting.spec.external) return undefined;
  return accountingStart({ without, slurmdbd: { ...slurmdbd, name: accounting.metadata.name } });
}

/** As if it had asked for none: everything else about its configuration may change meanwhile. */
function withoutAccounting(observed: ObservedController): ObservedController {
  const { controller } = observed;
  const { accountingRef: _, ...spec } = controller.spec;
  return { ...observed, accounting: undefined, controller: { ...controller, spec } };
}

function holdOf(
  { controller, accounting, statefulSet, slurmdbd }: ObservedController,
  { images }: OperatorDefaults,
): Hold | undefined {
  if (controller.spec.external || accounting === undefined || accounting.spec.external) return undefined;
  return accountingHold({
    wanted: controller.spec.slurmctld?.image ?? images.slurmctld,
    slurmctld: statefulSet,
    slurmdbd: {
      ...slurmdbd,
      name: accounting.metadata.name,
      wanted: accounting.spec.slurmdbd?.image ?? images.slurmdbd,
    },
  });
}

/** Everything else about it may change meanwhile. */
function withImageThatRuns(observed: ObservedController): ObservedController {
  const { controller, statefulSet } = observed;
  if (statefulSet.image === undefined) return observed;
  const slurmctld = { ...controller.spec.slurmctld, image: statefulSet.image };
  return { ...observed, controller: { ...controller, spec: { ...controller.spec, slurmctld } } };
}
