import { expect, test } from 'vitest';
import { oneLine, quoted } from '../base/printable.ts';
import { ApiError, type ApiErrorFields, isHeldBack } from './api-error.ts';

const deploy: ApiErrorFields = {
  api: 'cloud',
  operation: 'deploy',
  phrase: 'deploy cluster "orders"',
  idempotent: false,
  kind: 'conflict',
  what: 'the id is already in use',
};

test('ApiError says what was tried, what went wrong, and what the server said', () => {
  const error = new ApiError({ ...deploy, status: 409, code: 'ID_IN_USE', serverMessage: 'orders exists' });
  expect(error.message).toBe(
    'Cannot deploy cluster "orders": the id is already in use (HTTP 409, ID_IN_USE: orders exists)',
  );
  expect(error).toMatchObject({ status: 409, code: 'ID_IN_USE', serverMessage: 'orders exists', name: 'ApiError' });
});

test.each([
  [{ status: 409 }, '(HTTP 409)'],
  [{ status: 409, code: 'X' }, '(HTTP 409, X)'],
  [{ status: 409, serverMessage: 'no' }, '(HTTP 409, no)'],
  [{ detail: 'connect ECONNREFUSED' }, '(connect ECONNREFUSED)'],
  [{}, 'in use'],
])('ApiError leaves out what it does not know: %j', (fields, end) => {
  expect(new ApiError({ ...deploy, ...fields }).message.endsWith(end)).toBe(true);
});

test('ApiError keeps what the transport said out of serverMessage', () => {
  expect(new ApiError({ ...deploy, kind: 'unreachable', detail: 'ENOTFOUND' }).serverMessage).toBeUndefined();
});

test('ApiError holds no secret in any of its fields', () => {
  const secret = 'canary-4711-secret';
  const error = new ApiError({
    ...deploy,
    code: secret,
    serverMessage: `${'x'.repeat(290)} ${secret}`,
    detail: secret,
    secrets: [secret],
  });
  expect(JSON.stringify({ ...error, message: error.message, stack: error.stack })).not.toContain('canary');
});

test('ApiError does not show the beginning of a secret when it cuts the text', () => {
  for (let before = 4060; before < 4100; before++) {
    const secret = 'Q'.repeat(20);
    const error = new ApiError({ ...deploy, serverMessage: `${' '.repeat(before)}${secret}`, secrets: [secret] });
    expect(error.serverMessage ?? '').not.toContain('Q');
  }
});

test('ApiError caps long texts and keeps them on one line', () => {
  const error = new ApiError({ ...deploy, code: 'c'.repeat(5000), serverMessage: `a\nb\u202e${'d'.repeat(5000)}` });
  expect(error.code).toHaveLength(100);
  expect(error.serverMessage).toHaveLength(1000);
  expect(error.serverMessage).toMatch(/^a b d/);
});

test.each([
  ['unreachable', undefined, false, false],
  ['lost', undefined, false, true],
  ['aborted', undefined, false, true],
  ['unauthorized', 401, false, false],
  ['forbidden', 403, false, false],
  ['notFound', 404, false, false],
  ['conflict', 409, false, false],
  ['invalid', 400, false, false],
  ['throttled', 429, false, false],
  ['unavailable', 500, false, true],
  ['unavailable', 421, false, false],
  ['unavailable', undefined, false, false],
  ['badAnswer', 200, false, true],
] as const)(
  'ApiError of kind %s (HTTP %s) knows whether the call may have taken effect',
  (kind, status, _, effectUnknown) => {
    expect(new ApiError({ ...deploy, kind, status }).effectUnknown).toBe(effectUnknown);
  },
);

test.each([
  ['lost', undefined, false, false],
  ['lost', undefined, true, true],
  ['unavailable', 500, false, false],
  ['unavailable', 500, true, true],
  ['unavailable', undefined, false, true],
  ['unreachable', undefined, false, true],
  ['throttled', 429, false, true],
  ['badAnswer', 200, false, false],
  ['badAnswer', 200, true, true],
  ['invalid', 400, true, false],
  ['aborted', undefined, true, false],
] as const)('ApiError of kind %s (HTTP %s), idempotent %s, is retryable: %s', (kind, status, idempotent, retryable) => {
  expect(new ApiError({ ...deploy, kind, status, idempotent }).retryable).toBe(retryable);
});

test('quoted() keeps a hostile name on one short line', () => {
  expect(quoted('orders')).toBe('"orders"');
  expect(quoted(`a\r\n\u2028b\ud800${'c'.repeat(500)}`)).toHaveLength(82);
  expect(quoted('a\nb')).toBe('"a b"');
});

test('oneLine() removes control and direction characters', () => {
  expect(oneLine(' a\u0000\u001b[31mb\u2066c\u061cd\u0085 ')).toBe('a [31mb c d');
});

test('ApiError names the call and the side, and what is known of the other side', () => {
  const held = { retryAfterMs: 5, heldSinceMs: 7, isWithheld: true };
  expect(new ApiError({ ...deploy, ...held })).toMatchObject({
    api: 'cloud',
    operation: 'deploy',
    kind: 'conflict',
    failure: 'the id is already in use',
    ...held,
  });
  expect(new ApiError(deploy).isWithheld).toBe(false);
});

test.each(['authenticate', 'signIn'])(
  'ApiError of %s had no effect that matters, whatever its outcome',
  (operation) => {
    expect(new ApiError({ ...deploy, operation, kind: 'lost' }).effectUnknown).toBe(false);
  },
);

test('ApiError for a token that is not yet known had no effect', () => {
  expect(new ApiError({ ...deploy, kind: 'unavailable', status: 401 }).effectUnknown).toBe(false);
});

test('isHeldBack() distinguishes calls that were not tried from those that were, and from other errors', () => {
  const of = (kind: ApiErrorFields['kind'], status?: number) => new ApiError({ ...deploy, kind, status });
  expect([of('unavailable'), of('throttled')].map(isHeldBack)).toEqual([true, true]);
  const others = [of('unavailable', 503), of('throttled', 429), of('lost'), new Error('oops'), { kind: 'throttled' }];
  expect(others.map(isHeldBack)).toEqual(others.map(() => false));
});

test('ApiError keeps short texts whole, and omits empty ones', () => {
  const error = new ApiError({ ...deploy, code: ' ', serverMessage: 'm'.repeat(1000) });
  expect([error.code, error.serverMessage]).toEqual([undefined, 'm'.repeat(1000)]);
  expect(quoted('q'.repeat(80))).toBe(`"${'q'.repeat(80)}"`);
});
