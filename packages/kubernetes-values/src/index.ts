/** Values that Kubernetes writes as text; README.md lists them. */
export {
  CLOCK_SKEW,
  createAuthority,
  issueClient,
  issueServing,
  type KeyPair,
} from './certificate-authority.ts';
export { PERCENT_SYNTAX_MESSAGE, parsePercent, resolveCount } from './count-or-percent.ts';
export { durationFault, durationMilliseconds, formatDuration, parseDuration } from './duration.ts';
export {
  type ExecPlugin,
  Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigEntry,
  type KubeconfigUser,
  kubeconfigDocument,
} from './kubeconfig.ts';
export {
  type LabelSelector,
  mapMatches,
  ruleHolds,
  type SelectorRule,
  selectorMatches,
  selectorText,
} from './label-selector.ts';
export {
  configMapKey,
  dnsLabel,
  dnsLabel1035,
  dnsSubdomain,
  environmentName,
  labelValue,
  portName,
  qualifiedName,
} from './name-rules.ts';
export { parseFieldSelector } from './parse-field-selector.ts';
export { parseLabelSelector, SelectorError } from './parse-label-selector.ts';
export { bytes, milliCpu, QUANTITY_SYNTAX_MESSAGE, Quantity, quantityNumber } from './quantity.ts';
