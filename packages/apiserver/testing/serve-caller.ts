/** An embedded server for one test, and its administrator. */
import type { TestContext } from 'node:test';
import { type ApiServer, startApiServer } from '../src/server.ts';
import { Caller } from './contract/backend.ts';

export const callerOf = ({ url, caPem, admin }: ApiServer): Caller =>
  new Caller({ name: 'embedded', url, caPem, ...admin, controllers: false });

/** Both end with the test. */
export async function serveCaller(t: TestContext): Promise<{ server: ApiServer; caller: Caller }> {
  const server = await startApiServer();
  const caller = callerOf(server);
  t.after(async () => {
    caller.close();
    await server.stop();
  });
  return { server, caller };
}
