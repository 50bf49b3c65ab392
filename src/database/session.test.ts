import { expect, test } from 'vitest';
import { errorOf } from '../../test/support/cloud.ts';
import type { Script, ScriptedAnswer } from '../../test/support/http.ts';
import { aServerClient } from '../../test/support/server.ts';
import { HttpError } from '../base/transport.ts';
import { Session } from './session.ts';

const login = { username: 'admin', password: 'canary-password' };

/** A server that gives out numbered tokens and accepts those for which `valid` holds. */
function aSession(options: { valid?: (token: string) => boolean; answer?: Script } = {}) {
  const { valid = () => true, answer = () => ({ status: 200, body: { users: [] } }) } = options;
  let tokens = 0;
  const server = aServerClient((request, count): ScriptedAnswer | Promise<ScriptedAnswer> => {
    if (request.url.endsWith('/v1/signin')) return { status: 200, body: { token: `token-${++tokens}` } };
    const token = String(request.headers?.['authorization'] ?? '').slice('Bearer '.length);
    return valid(token) ? answer(request, count) : { status: 401 };
  });
  const signIns = () => server.requests.filter((request) => request.url.endsWith('/v1/signin')).length;
  return { session: new Session(server.client, login), signIns, requests: server.requests };
}

const listUsers = (session: Session, signal?: AbortSignal) =>
  session.use((client, token) => client.listUsers(token, signal), signal);

test('Session signs in once for everybody who asks at once, and keeps the token', async () => {
  const { session, signIns } = aSession();
  await Promise.all(Array.from({ length: 30 }, () => listUsers(session)));
  await session.signIn();
  expect(signIns()).toBe(1);
});

test('Session signs in once more when its token is refused', async () => {
  const { session, signIns, requests } = aSession({ valid: (token) => token === 'token-2' });
  expect(await listUsers(session)).toEqual([]);
  expect([signIns(), requests.length]).toEqual([2, 4]);
});

test('Session gives up when the new token is refused too', async () => {
  const { session, signIns } = aSession({ valid: () => false });
  expect(await errorOf(listUsers(session))).toMatchObject({ kind: 'unauthorized', operation: 'listUsers' });
  expect(signIns()).toBe(2);
});

test('Session signs in once for many calls that are refused together', async () => {
  let restarted = false;
  const { session, signIns } = aSession({ valid: (token) => !restarted || token !== 'token-1' });
  await session.signIn();
  restarted = true;
  await Promise.all(Array.from({ length: 20 }, () => listUsers(session)));
  expect(signIns()).toBe(2);
});

test('Session keeps a new token if one that was refused comes back late', async () => {
  const late = Promise.withResolvers<void>();
  let calls = 0;
  const { session, signIns } = aSession({
    valid: (token) => token !== 'token-1',
  });
  await session.signIn();
  const work: Parameters<typeof session.use>[0] = async (client, token) => {
    if (calls++ === 0) await late.promise;
    return client.listUsers(token);
  };
  const [slow, quick] = [session.use(work), listUsers(session)];
  await quick;
  late.resolve();
  await slow;
  expect(signIns()).toBe(2);
});

test('Session does not sign in again for another failure', async () => {
  const { session, signIns } = aSession({ answer: () => ({ status: 403 }) });
  expect((await errorOf(listUsers(session))).kind).toBe('forbidden');
  expect(signIns()).toBe(1);
});

test('Session.signIn() reports a wrong login, and tries again the next time', async () => {
  const server = aServerClient((_, count) => (count === 0 ? { status: 401 } : { status: 200, body: { token: 't' } }));
  const session = new Session(server.client, login);
  expect(await errorOf(session.signIn())).toMatchObject({ kind: 'unauthorized', operation: 'signIn', status: 401 });
  await session.signIn();
  expect(server.requests).toHaveLength(2);
});

test('Session.invalidate() makes the next use sign in', async () => {
  const { session, signIns } = aSession();
  await session.signIn();
  session.invalidate();
  await session.signIn();
  expect(signIns()).toBe(2);
});

test.each([
  ['its own user', 'admin', 2],
  ['another user', 'app', 1],
] as const)('Session.updateUser() of %s leaves the session with %s: sign-ins', async (_, username, expected) => {
  const { session, signIns } = aSession();
  await session.updateUser(username, 'new-password');
  await session.signIn();
  expect(signIns()).toBe(expected);
});

test('Session.updateUser() drops the token even when the answer is lost', async () => {
  const { session, signIns } = aSession({ answer: () => new HttpError('lost', 'reset') });
  expect(await errorOf(session.updateUser('admin', 'canary-new'))).toMatchObject({ kind: 'lost', effectUnknown: true });
  await session.signIn();
  expect(signIns()).toBe(2);
});

test('Session ends for the caller who gives up', async () => {
  const server = aServerClient(() => new Promise<ScriptedAnswer>(() => {}));
  const session = new Session(server.client, login);
  const controller = new AbortController();
  const waiting = errorOf(listUsers(session, controller.signal));
  controller.abort();
  expect(await waiting).toMatchObject({
    api: 'server',
    kind: 'aborted',
    operation: 'signIn',
    message: 'Cannot sign in: it was canceled',
  });
});

test('Session shows its login in no text form', async () => {
  const { session } = aSession();
  await session.signIn();
  expect(`${JSON.stringify(session)} ${Object.keys(session).join()}`).not.toMatch(/canary|token-/);
});
