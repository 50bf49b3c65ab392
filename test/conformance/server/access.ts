import { expect } from 'vitest';
import { ApiError } from '../../../src/http/api-error.ts';
import { CASES } from '../../support/server-operations.ts';
import type { Check } from '../check.ts';
import { type RawRequest, raw } from '../raw.ts';
import { either, failure, type ServerSetting, serverClientOf } from '../server-setting.ts';

/** The twenty operations; names in their paths exist nowhere. */
const PROTECTED = CASES.filter(({ token }) => token !== false);

function requestOf({ method, path, body }: (typeof CASES)[number]): RawRequest {
  if (!isMethod(method)) throw new Error(`No method: ${method}`);
  return { method, path: path.replace('orders', 'no-such-name'), ...(body === undefined ? {} : { body }) };
}

function isMethod(method: string): method is RawRequest['method'] {
  return ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method);
}

/** The error statuses that each operation has in common with others. */
export const serverAccessChecks: readonly Check<ServerSetting>[] = [
  ...PROTECTED.flatMap((operation): Check<ServerSetting>[] => [
    {
      section: operation.name,
      name: 'without a token it is a malformed request, or unauthorized in the field',
      needs: [],
      run: async (setting) => {
        const { status } = await raw(setting, requestOf(operation));
        expect(status).toBe(either(setting, { document: 400, field: 401 }));
      },
    },
    {
      section: operation.name,
      name: 'with an invalid token it is 401',
      needs: [],
      run: async (setting) => {
        const { status } = await raw(setting, { ...requestOf(operation), authorization: 'Bearer no-such-token' });
        expect(status).toBe(401);
        const error = await failure(operation.run(serverClientOf(setting), 'no-such-name'));
        expect(error).toBeInstanceOf(ApiError);
        expect(error).toMatchObject({ kind: 'unauthorized', status: 401, operation: operation.name });
      },
    },
  ]),
  ...CASES.map(
    (operation): Check<ServerSetting> => ({
      section: operation.name,
      name: 'a failure of the server is reported as such',
      needs: ['simulator'],
      run: async (setting) => {
        setting.powers?.simulator.faults.add({ effect: 'errorBefore', match: { api: 'server' } });
        const error = await failure(operation.run(serverClientOf(setting), 'no-such-name'));
        expect(error).toMatchObject({ name: 'ApiError', kind: 'unavailable', status: 500, operation: operation.name });
      },
    }),
  ),
  ...[
    { method: 'GET', path: '/v1/no-such-path', status: 404 },
    { method: 'DELETE', path: '/v1/version', status: 405 },
  ].map(
    ({ method, path, status }): Check<ServerSetting> => ({
      section: 'Endpoints',
      name: `${method} ${path} is ${status}, with or without a body`,
      needs: [],
      run: async (setting) => {
        if (!isMethod(method)) throw new Error(`No method: ${method}`);
        expect((await raw(setting, { method, path })).status).toBe(status);
      },
    }),
  ),
];
