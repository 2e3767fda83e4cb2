/** What to do for an Accounting. Pure. */
import { annotation } from '@slurm-operator/api';
import { secrets, services } from '@slurm-operator/kube';
import { digestBehind } from '../../cache/references.ts';
import { type Action, titleOf } from '../../framework/actions.ts';
import type { Plan } from '../../framework/define-reconciler.ts';
import { planStatefulSet } from '../../framework/plan-workload.ts';
import type { Problem } from '../../framework/status/conditions.ts';
import { digestOf } from '../../objects/digest.ts';
import { jwtKeyOf } from '../../objects/key-sources.ts';
import type { OperatorDefaults } from '../../objects/operator-defaults.ts';
import type { RenderedConf } from '../../slurm-config/conf-file.ts';
import { UnsafeValueError } from '../../slurm-config/setting.ts';
import {
  buildAccountingSecret,
  buildAccountingService,
  buildAccountingStatefulSet,
} from './objects/accounting.ts';
import { buildSlurmdbdConf } from './objects/slurmdbd-conf.ts';
import type { ObservedAccounting } from './observe.ts';

export function planAccounting(observed: ObservedAccounting, defaults: OperatorDefaults): Plan {
  const { accounting, missingRefs, password, statefulSet } = observed;
  if (accounting.spec.external) return { actions: [], problems: [] };
  const service: Action = { type: 'Apply', resource: services, object: buildAccountingService(accounting) };
  if (password === undefined) return { actions: [service], problems: missingRefs };
  const conf = renderOrProblem(accounting, password.reveal());
  if ('reason' in conf) return { actions: [service], problems: [conf] };
  const secret: Action = {
    type: 'Apply',
    resource: secrets,
    object: buildAccountingSecret(accounting, conf.text),
  };
  const hashes = { ...keyHashes(observed), slurmdbdConf: digestOf(conf.text) };
  const desired = buildAccountingStatefulSet({
    accounting,
    defaults,
    hashes,
    keysOf: observed.controllerKeys?.controller,
  });
  return {
    actions: [
      service,
      secret,
      ...planStatefulSet(accounting, statefulSet, desired).map((action) => ({
        ...action,
        needs: [titleOf(secret)],
      })),
    ],
    problems: conf.complaints.map((message) => ({ reason: 'InvalidSpec', message })),
  };
}

function renderOrProblem(
  accounting: ObservedAccounting['accounting'],
  password: string,
): RenderedConf | Problem {
  try {
    return buildSlurmdbdConf(accounting, password);
  } catch (error) {
    if (!(error instanceof UnsafeValueError)) throw error;
    return { reason: 'InvalidSpec', message: error.message };
  }
}

/** slurmdbd reads its keys once, when it starts: another digest restarts it. */
function keyHashes({ accounting: { spec }, secrets: known, jwks, controllerKeys }: ObservedAccounting): {
  readonly slurmKey: string;
  readonly jwtKey: string;
} {
  const jwt = digestBehind(known, jwtKeyOf(spec));
  const publicKeys = digestBehind(jwks, spec.jwksKeyRef);
  const isAway = jwt === '' || publicKeys === '';
  return {
    slurmKey: controllerKeys?.digest ?? digestBehind(known, spec.slurmKeyRef),
    // Without public keys the digest of the JWT key alone: a new formula would restart every slurmdbd once.
    jwtKey: spec.jwksKeyRef === undefined ? jwt : isAway ? '' : digestOf([jwt, publicKeys]),
  };
}

/** Annotation of slurmdbd's pod → digest of the key that it should have. */
export function desiredKeys(observed: ObservedAccounting): Record<string, string> {
  const { slurmKey, jwtKey } = keyHashes(observed);
  return { [annotation.slurmKeyHash]: slurmKey, [annotation.jwtKeyHash]: jwtKey };
}
