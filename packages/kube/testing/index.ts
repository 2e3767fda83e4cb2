/** What tests of programs built on this runtime can use. */
export { FakeClock, settle } from './fake-clock.ts';
export { type FakeAnswer, fakeTransport, status } from './fake-transport.ts';
export { FaultGateway, type GatewayRequest, type GatewayTarget, type LineFate } from './fault-gateway.ts';
export { type Patience, until } from './until.ts';
