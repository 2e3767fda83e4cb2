/** For tests of other packages: recorded exchanges with a real API server, the replay of them, and a node that forwards ports. */
export { Caller } from './contract/backend.ts';
export { needs, type RecordedCase, recordedCases, topicOf } from './contract/case.ts';
export { prepareNamespaces } from './contract/namespaces.ts';
export { replay } from './contract/replay.ts';
export { WebhookStandIn } from './contract/webhook-stand-in.ts';
export { type ForwardingNode, startForwardingNode } from './forwarding-node.ts';
