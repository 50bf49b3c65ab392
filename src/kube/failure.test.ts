import { expect, test } from 'vitest';
import { TerminalError, TransientError } from '../base/errors.ts';
import { HttpError } from '../base/transport.ts';
import { ApiError, type ApiErrorKind } from '../http/api-error.ts';
import { KubeError } from './api.ts';
import { asLeaving, asTold, failureOf, lastErrorOf } from './failure.ts';

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
] as const)('failureOf() treats an ApiError of kind $kind as $lasting, with reason $reason', (row) => {
  const failure = failureOf(apiError(row.kind));
  expect(failure).toMatchObject({ lasting: row.lasting, reason: row.reason, details: { operation: 'deploy' } });
  // Anybody who must act is told what to do.
  if (row.lasting === 'terminal') expect(failure.message.length).toBeGreaterThan('Cannot deploy "x": It failed'.length);
});

test.each(['unreachable', 'lost', 'unavailable'] as const)('failureOf() says what to look at if %s lasts', (kind) => {
  expect(failureOf(apiError(kind)).message).toMatch(
    /tries again\. If this persists, see what the DatabaseSpace says; if it is Ready, ask .* support$/,
  );
  const { message, details } = failureOf(apiError(kind, 'server'));
  expect(message).toMatch(/tries again\. If this persists, check that the server runs, and network policies/);
  // The error itself stays as it was found.
  expect(details.message).not.toContain('persists');
});

test.each([
  ['cloud', 'baseURL'],
  ['server', 'serverURL'],
] as const)('failureOf() says where to look if the %s does not find what was asked for', (api, field) => {
  expect(failureOf(apiError('notFound', api)).message).toMatch(
    new RegExp(
      `tries again\\. If this persists, check whether it is there, that ${field} .*no proxy answers in its place$`,
    ),
  );
});

test('failureOf() says where to look if answers make no sense', () => {
  expect(failureOf(apiError('badAnswer')).message).toMatch(
    /tries again\. If this persists, check that baseURL of the DatabaseSpace leads to the cloud, and that no proxy answers in its place$/,
  );
  expect(failureOf(apiError('badAnswer', 'server')).message).toContain(
    'serverURL of the DatabaseSpace leads to the server',
  );
});

test('failureOf() speaks of tokens if the cloud denies access, and of the login if a server does', () => {
  expect(failureOf(apiError('forbidden')).message).toContain('Give the DatabaseSpace an API token');
  const { reason, message } = failureOf(apiError('forbidden', 'server'));
  expect(reason).toBe('AccessDenied');
  expect(message).toContain('adminCredentials.existingSecretRef');
  expect(message).not.toMatch(/token/);
  // A proxy may answer so for the default user, too: its login is in no other Secret.
  expect(message).toMatch(
    /If Mooring works with another user's login .*keep a copy .*; otherwise see what answers in front/,
  );
});

test('failureOf() names the other side', () => {
  expect(failureOf(apiError('invalid')).message).toContain('what the answer names in the cloud');
  expect(failureOf(apiError('invalid', 'server')).message).toContain('what the answer names on the server');
  expect(failureOf(apiError('unreachable', 'server')).reason).toBe('ServerUnreachable');
  expect(failureOf(apiError('invalid', 'server')).reason).toBe('RefusedByServer');
});

test('failureOf() says of a server that takes no changes where to look, and not whether it can be reached', () => {
  const { message } = failureOf(apiError('unavailable', 'server', { status: 421 }));
  expect(message).toMatch(/tries again, .*\. If this persists, see status\.servers of the DatabaseCluster/);
  expect(message).not.toMatch(/network/);
});

test('failureOf() keeps status, code and the time that the other side asked for', () => {
  const error = apiError('throttled', 'cloud', { status: 429, code: 'SLOW', retryAfterMs: 7_000 });
  expect(failureOf(error)).toMatchObject({ retryAfterMs: 7_000, details: { httpStatus: 429, code: 'SLOW' } });
});

test('failureOf() recognizes what was held back, and what was tried in vain', () => {
  const heldBack = apiError('unavailable');
  expect(failureOf(heldBack).heldBack).toEqual({ sinceMs: undefined });
  expect(failureOf(new TransientError('Busy', 'Not now', { cause: heldBack })).heldBack).toBeDefined();
  expect(failureOf(apiError('unavailable', 'cloud', { heldSinceMs: 7 })).heldBack).toEqual({ sinceMs: 7 });
  for (const tried of [apiError('unavailable', 'cloud', { status: 503 }), apiError('unreachable')])
    expect(failureOf(tried).heldBack).toBeUndefined();
});

test('failureOf() treats what was tried in vain as something that may pass, unless a person must act or it was no call', () => {
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

test('failureOf() lets an error itself say what it means, and which call caused it', () => {
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

// As kube-apiserver 1.37 words them.
test.each([
  [
    'secrets is forbidden: User "mooring" cannot create resource "secrets" in API group "" in the namespace "shop"',
    true,
  ],
  ['forbidden: User "mooring" cannot get path "/metrics"', true],
  ['secrets "a" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=3, limited: secrets=3', false],
  ['secrets "a" is forbidden: unable to create new content in namespace shop because it is being terminated', false],
  ["secrets \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no", false],
  ['admission webhook "validation.gatekeeper.sh" denied the request: [names] no', false],
])('failureOf() tells a missing right from what admission refuses: %s', (text, lacksRight) => {
  const ends = text.includes('being terminated');
  const said = `Cannot create secrets: ${text}`;
  const causes = ends ? ['NamespaceTerminating'] : [];
  const { reason, message } = failureOf(new KubeError(said, { status: 403, causes }));
  expect(reason).toBe(lacksRight ? 'KubernetesForbidden' : 'KubernetesError');
  // Nobody can do anything about a namespace that ends.
  const remedy = lacksRight ? '. If a right is missing' : '. A quota, an admission policy or a webhook';
  expect(message.startsWith(`${said}${ends ? '' : remedy}`)).toBe(true);
  expect(message === said).toBe(ends);
  expect(message.includes('If a right is missing')).toBe(lacksRight);
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
])('failureOf() distinguishes %s from what only has to be looked at again: %#', (_what, error, planned) => {
  expect(failureOf(error).planned).toBe(planned);
});

const TOLD_AT = Date.parse('2026-11-20T12:00:00Z');
const TOLD = {
  conditions: [
    {
      type: 'Ready',
      status: 'False',
      reason: 'CloudUnreachable',
      message: 'As first told',
      observedGeneration: 1,
      lastTransitionTime: '',
    } as const,
  ],
  lastError: { operation: 'deploy', message: 'It was refused', time: new Date(TOLD_AT).toISOString() },
};

test.each([
  ['that is held back', { heldSinceMs: TOLD_AT }, {}, 1, true],
  ['that is held back since a minute later', { heldSinceMs: TOLD_AT + 60_000 }, {}, 1, true],
  ['that is held back, nobody knows since when', {}, {}, 1, true],
  ['that belongs to a later outage', { heldSinceMs: TOLD_AT + 60_001 }, {}, 1, false],
  ['that was tried', { status: 503 }, {}, 1, false],
  ['of another spec', { heldSinceMs: TOLD_AT }, {}, 2, false],
  ['for which no error was reported', { heldSinceMs: TOLD_AT }, { lastError: undefined }, 1, false],
  ['that no condition reports', { heldSinceMs: TOLD_AT }, { conditions: undefined }, 1, false],
])('asTold() keeps the first words about a failure %s: %#', (_what, more, told, generation, stands) => {
  const failure = failureOf(apiError('unavailable', 'cloud', more));
  const expected = stands ? { ...failure, message: 'As first told', details: TOLD.lastError } : failure;
  expect(asTold({ ...TOLD, ...told }, failure, generation)).toEqual(expected);
});

test('asTold() reports a failure that differs from the one before', () => {
  const failure = failureOf(apiError('throttled'));
  expect(asTold(TOLD, failure, 1)).toBe(failure);
});

test('lastErrorOf() distinguishes failures by operation, status or message, and clears what is over', () => {
  const { details, ...rest } = failureOf(apiError('unavailable', 'cloud', { status: 503 }));
  const time = new Date(TOLD_AT).toISOString();
  const known = { ...details, time: '2026-11-20T10:00:00.000Z' };
  expect(lastErrorOf(known, undefined, TOLD_AT)).toBeNull();
  expect(lastErrorOf(known, { ...rest, details }, TOLD_AT)).toBeUndefined();
  expect(lastErrorOf(undefined, { ...rest, details }, TOLD_AT)).toEqual({ ...details, time });
  for (const other of [{ operation: 'list' }, { httpStatus: 500 }, { message: 'Else' }])
    expect(lastErrorOf({ ...known, ...other }, { ...rest, details }, TOLD_AT)).toEqual({ ...details, time });
});

test('lastErrorOf() shortens a message as conditions do, as a status must not grow without bound', () => {
  const failure = failureOf(new KubeError('x'.repeat(5_000), { status: 500 }));
  const told = lastErrorOf(undefined, failure, TOLD_AT);
  expect(told).toMatchObject({ httpStatus: 500, message: `${'x'.repeat(623)}…${'x'.repeat(400)}` });
  expect(lastErrorOf(told ?? undefined, failure, TOLD_AT + 1)).toBeUndefined();
});

test('failureOf() says what a failure of the Kubernetes API was, and where a missing right comes from', () => {
  const forbidden = failureOf(new KubeError('no', { status: 403, reason: 'Forbidden' }));
  expect(forbidden.message).toMatch(/^no\. If a right is missing, /);
  expect(forbidden.details).toEqual({ operation: 'Reconcile', message: 'no', httpStatus: 403, code: 'Forbidden' });
  const busy = failureOf(new KubeError('busy', { status: 429 }));
  expect([busy.message, busy.details]).toEqual(['busy', { operation: 'Reconcile', message: 'busy', httpStatus: 429 }]);
  expect(failureOf(new Error('oops')).details).toEqual({ operation: 'Reconcile', message: 'oops' });
});

test('failureOf() says of a failed call only what there was', () => {
  expect(failureOf(apiError('lost')).details).toEqual({ operation: 'deploy', message: 'Cannot deploy "x": It failed' });
});

test.each([
  ['unauthorized', 'Check the Secret'],
  ['conflict', 'Change the spec, or what the answer names'],
] as const)('failureOf() says what to do about %s of either side', (kind, remedy) => {
  for (const api of ['cloud', 'server'] as const) expect(failureOf(apiError(kind, api)).message).toContain(remedy);
});

test.each(['destroy', 'deleteUser', 'deleteDatabase'])('failureOf() blames no spec if %s is refused', (operation) => {
  for (const kind of ['conflict', 'invalid'] as const) {
    const { message } = failureOf(apiError(kind, 'server', { operation }));
    expect(message).toBe(
      'Cannot deploy "x": It failed. Correct what the answer names there; Mooring tries again now and then, and at once if this object is annotated with a new mooring.dev/reconcile-at',
    );
  }
});

test('asLeaving() says once how to let an object go, if a person must act or the other side may be gone for good', () => {
  const letGo = 'To remove only this object, annotate mooring.dev/abandon=true';
  const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  const failure = failureOf(new TerminalError('AccessDenied', 'It is refused'));
  const refused = asLeaving(going, failure);
  expect(refused?.message).toBe(`It is refused. ${letGo}`);
  expect(asLeaving(going, refused)?.message).toBe(refused?.message);
  expect(asLeaving({}, failure)).toBe(failure);
  expect(asLeaving(going, undefined)).toBeUndefined();
  for (const kind of ['unreachable', 'lost', 'unavailable', 'badAnswer', 'notFound'] as const)
    expect(asLeaving(going, failureOf(apiError(kind, 'server')))?.message).toMatch(
      new RegExp(`If this persists, .*\\. ${letGo}$`),
    );
  // These end by themselves, or keep an annotation from having an effect.
  const passing = [apiError('throttled'), new TransientError('NotFound', 'Not yet')];
  const ofKubernetes = [new KubeError('No', { status: 500, reason: '' }), new HttpError('lost', 'No answer')];
  for (const error of [...passing, ...ofKubernetes]) {
    const found = failureOf(error);
    expect(asLeaving(going, found)).toBe(found);
  }
});
