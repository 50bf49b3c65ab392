import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Operation } from './api-call.ts';
import { ApiError } from './api-error.ts';
import { requestBody } from './request-body.ts';

const operation: Operation = { name: 'put', phrase: 'put x', method: 'POST', path: [], idempotent: false };
const schema = z.strictObject({ a: z.strictObject({ b: z.int() }), password: z.string().min(1) });

test('requestBody() writes what the schema accepts', () => {
  const request = { a: { b: 1 }, password: 'x' };
  expect(requestBody('cloud', operation, schema, request)).toBe(JSON.stringify(request));
});

test.each([
  [{ a: { b: 1.5 }, password: 'canary' }, 'a.b'],
  [{ a: {}, password: 'canary' }, 'a.b'],
  [{ a: { b: 1 }, password: ['canary'] }, 'password'],
  [{ a: { b: 1 }, password: 'canary', canary: 1 }, 'the request'],
  [null, 'the request'],
])('requestBody() names the field of %j that breaks a rule, and shows no secret', (request, field) => {
  let error: unknown;
  try {
    requestBody('server', operation, schema, request, ['canary']);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ kind: 'invalid', api: 'server', status: undefined });
  expect(String(error)).toContain(`Cannot put x: not sent, because ${field} is invalid (`);
  expect(String(error)).not.toContain('canary');
});
