/** Test helpers for programs that use this runtime. */
export { FakeClock, settle } from './fake-clock.ts';
export { type FakeAnswer, fakeTransport, status } from './fake-transport.ts';
export { FaultGateway, type GatewayRequest, type GatewayTarget, type LineFate } from './fault-gateway.ts';
export { freePort } from './free-port.ts';
export { aPod, type PodParts } from './objects.ts';
export { type UntilOptions, until } from './until.ts';
