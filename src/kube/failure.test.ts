import { expect, test } from 'vitest';
import { ApiError, type ApiErrorKind } from '../base/api-error.ts';
import { TerminalError, TransientError } from '../base/errors.ts';
import { HttpError } from '../base/http.ts';
import { KubeError } from './api.ts';
import { failureOf } from './failure.ts';

const apiError = (kind: ApiErrorKind, api: 'cloud' | 'server' = 'cloud', more: object = {}) =>
  new ApiError({ api, operation: 'deploy', phrase: 'deploy "x"', kind, what: 'It failed', idempotent: true, ...more });

test.each([
  { kind: 'unreachable', lasting: 'transient', reason: 'CloudUnreachable' },
  { kind: 'lost', lasting: 'transient', reason: 'CloudUnreachable' },
  { kind: 'unavailable', lasting: 'transient', reason: 'CloudUnreachable' },
  { kind: 'aborted', lasting: 'transient', reason: 'CloudUnreachable' },
  { kind: 'throttled', lasting: 'transient', reason: 'CloudThrottled' },
  { kind: 'badAnswer', lasting: 'transient', reason: 'CloudAnswerUnusable' },
  { kind: 'notFound', lasting: 'transient', reason: 'NotFound' },
  { kind: 'unauthorized', lasting: 'terminal', reason: 'CredentialsInvalid' },
  { kind: 'forbidden', lasting: 'terminal', reason: 'AccessDenied' },
  { kind: 'conflict', lasting: 'terminal', reason: 'RefusedByCloud' },
  { kind: 'invalid', lasting: 'terminal', reason: 'RefusedByCloud' },
] as const)('failureOf() takes an ApiError of kind $kind for $lasting, with reason $reason', (row) => {
  const failure = failureOf(apiError(row.kind));
  expect(failure).toMatchObject({ lasting: row.lasting, reason: row.reason, details: { operation: 'deploy' } });
  // Who must act is told what to do.
  expect(failure.message.length > 'Cannot deploy "x": It failed'.length).toBe(row.lasting === 'terminal');
});

test('failureOf() speaks of tokens to whom the cloud denies access, and of the login to whom a server does', () => {
  expect(failureOf(apiError('forbidden')).message).toContain('API token of a sufficient level');
  const { reason, message } = failureOf(apiError('forbidden', 'server'));
  expect(reason).toBe('AccessDenied');
  expect(message).toContain('adminCredentials.existingSecretRef');
  expect(message).not.toMatch(/token/);
});

test('failureOf() names the other side', () => {
  expect(failureOf(apiError('invalid')).message).toContain('what the answer names in the cloud');
  expect(failureOf(apiError('invalid', 'server')).message).toContain('what the answer names on the server');
  expect(failureOf(apiError('unreachable', 'server')).reason).toBe('ServerUnreachable');
  expect(failureOf(apiError('invalid', 'server')).reason).toBe('RefusedByServer');
});

test('failureOf() keeps status, code and the time that the other side asked for', () => {
  const error = apiError('throttled', 'cloud', { status: 429, code: 'SLOW', retryAfterMs: 7_000 });
  expect(failureOf(error)).toMatchObject({ retryAfterMs: 7_000, details: { httpStatus: 429, code: 'SLOW' } });
});

test('failureOf() knows what was held back, and what was tried in vain', () => {
  const heldBack = apiError('unavailable');
  expect(failureOf(heldBack).heldBack).toEqual({ sinceMs: undefined });
  expect(failureOf(new TransientError('Busy', 'Not now', { cause: heldBack })).heldBack).toBeDefined();
  expect(failureOf(apiError('unavailable', 'cloud', { heldSinceMs: 7 })).heldBack).toEqual({ sinceMs: 7 });
  for (const tried of [apiError('unavailable', 'cloud', { status: 503 }), apiError('unreachable')])
    expect(failureOf(tried).heldBack).toBeUndefined();
});

test('failureOf() takes what was tried in vain for something that may pass, unless a person must act or it was no call', () => {
  const mayPass = [
    apiError('unavailable', 'server', { status: 503 }),
    apiError('lost'),
    apiError('unreachable'),
    apiError('throttled', 'server', { status: 429 }),
    new TransientError('Busy', 'Not now', { cause: apiError('lost') }),
    new KubeError('busy', { status: 429 }),
    new KubeError('starting', { status: 503 }),
    new HttpError('unreachable', 'no way'),
  ];
  const mayNot = [
    apiError('unavailable', 'server', { heldSinceMs: 7 }),
    apiError('throttled'),
    apiError('badAnswer'),
    apiError('unauthorized'),
    new TransientError('Busy', 'Not now'),
    new TerminalError('Taken', 'It is taken', { cause: apiError('lost') }),
    new KubeError('no', { status: 403, reason: 'Forbidden' }),
    new Error('a bug'),
  ];
  expect(mayPass.map((error) => failureOf(error).mayPass)).toEqual(mayPass.map(() => true));
  expect(mayNot.map((error) => failureOf(error).mayPass)).toEqual(mayNot.map(() => false));
});

test('failureOf() lets an error say itself what it means, and what call was behind it', () => {
  const cause = apiError('invalid', 'cloud', { status: 400 });
  expect(failureOf(new TransientError('Busy', 'Not now', { retryAfterMs: 5, cause }))).toEqual({
    lasting: 'transient',
    reason: 'Busy',
    planned: false,
    mayPass: false,
    heldBack: undefined,
    message: 'Not now',
    retryAfterMs: 5,
    details: { operation: 'deploy', httpStatus: 400, message: 'Not now' },
  });
  expect(failureOf(new TerminalError('Taken', 'It is taken'))).toEqual({
    lasting: 'terminal',
    reason: 'Taken',
    planned: false,
    mayPass: false,
    heldBack: undefined,
    message: 'It is taken',
    retryAfterMs: undefined,
    details: { operation: 'Reconcile', message: 'It is taken' },
  });
});

test.each([
  { error: new KubeError('changed', { status: 409, reason: 'Conflict' }), lasting: 'conflict' },
  { error: new KubeError('exists', { status: 409, reason: 'AlreadyExists' }), lasting: 'transient' },
  { error: new KubeError('no', { status: 403, reason: 'Forbidden' }), reason: 'KubernetesForbidden' },
  { error: new KubeError('busy', { status: 429, retryAfterMs: 9 }), reason: 'KubernetesError', retryAfterMs: 9 },
  { error: new HttpError('unreachable', 'no way'), reason: 'KubernetesUnreachable' },
  { error: new Error('a bug'), lasting: 'transient', reason: 'InternalError' },
  { error: 'not even an error', lasting: 'transient', reason: 'InternalError', message: 'not even an error' },
])('failureOf() of $error', ({ error, ...expected }) => {
  expect(failureOf(error)).toMatchObject(expected);
});

test.each([
  ['a call that fails', apiError('lost'), false],
  ['a pass that has to look again', new TransientError('ObjectChanged', 'It changed'), true],
  [
    'a pass that says so because a call failed',
    new TransientError('Busy', 'Later', { cause: apiError('lost') }),
    false,
  ],
  ['the Kubernetes API', new KubeError('no', { status: 500, reason: 'InternalError' }), false],
  ['a mistake of ours', new Error('oops'), false],
])('failureOf() tells %s from what only has to be looked at again: %#', (_what, error, planned) => {
  expect(failureOf(error).planned).toBe(planned);
});
