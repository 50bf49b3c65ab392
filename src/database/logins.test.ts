import { expect, test } from 'vitest';
import { errorOf } from '../../test/support/cloud.ts';
import { aServerClient } from '../../test/support/server.ts';
import { HttpError } from '../base/transport.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { Logins } from './logins.ts';

const FACTORY = { username: 'admin', password: 'canary-factory' };
const OURS = { username: 'admin', password: 'canary-ours' };

/** A server with one user; an update changes the password and so ends the tokens. `answers` says what it answers instead. */
function aServer(password = FACTORY.password) {
  const state = { password, answers: undefined as number | HttpError | undefined };
  let tokens = 0;
  let valid = '';
  const server = aServerClient((request) => {
    if (state.answers instanceof HttpError) return state.answers;
    if (state.answers !== undefined) return { status: state.answers, body: { code: 'X', message: 'x' } };
    const body = JSON.parse(request.body ?? '{}');
    if (request.url.endsWith('/v1/signin')) {
      if (body.password !== state.password) return { status: 401, body: { code: 'AUT1', message: 'Invalid' } };
      valid = `token-${++tokens}`;
      return { status: 200, body: { token: valid } };
    }
    if (request.headers?.['authorization'] !== `Bearer ${valid}`) return { status: 401 };
    state.password = body.password;
    valid = '';
    return { status: 200, body: {} };
  });
  return { logins: new Logins('https://server.example', () => server.client), requests: server.requests, state };
}

test('Logins learns of a login by trying it, and holds it without a further call', async () => {
  const { logins, requests } = aServer();
  expect(logins.isHeld(FACTORY)).toBe(false);
  expect(await logins.attempt(FACTORY)).toBe('accepted');
  const calls = requests.length;
  expect([logins.isHeld(FACTORY), logins.isHeld(OURS), requests.length]).toEqual([true, false, calls]);
});

test('Logins treats a 401 as a no, and drops what it held', async () => {
  const { logins, state } = aServer();
  await logins.attempt(FACTORY);
  state.answers = 401;
  expect(await logins.attempt(FACTORY)).toBe('refused');
  expect(logins.isHeld(FACTORY)).toBe(false);
});

test.each([
  400,
  403,
  404,
  429,
  500,
  503,
  new HttpError('unreachable', 'Connection refused'),
  new HttpError('lost', 'Connection reset'),
])('Logins treats %s as no answer at all: neither dead nor alive', async (answers) => {
  const { logins, state } = aServer();
  await logins.attempt(FACTORY);
  state.answers = answers;
  expect(await errorOf(logins.attempt(FACTORY))).toMatchObject({ name: 'ApiError' });
  expect(logins.isHeld(FACTORY)).toBe(true);
});

test('Logins takes no session from before a doubt as proof, but keeps it for use', async () => {
  const { logins, requests } = aServer();
  logins.doubt();
  await logins.attempt(FACTORY);
  const session = logins.heldBy('admin');
  logins.doubt();
  expect([logins.isHeld(FACTORY), logins.heldBy('admin') === session, requests.length]).toEqual([false, true, 1]);
  await logins.attempt(FACTORY);
  expect([logins.isHeld(FACTORY), requests.length]).toEqual([true, 2]);
});

test('Logins forgets all logins of a user whose password it sets', async () => {
  const { logins } = aServer();
  await logins.attempt(FACTORY);
  await logins.setPassword(FACTORY, 'admin', OURS.password);
  expect([logins.isHeld(FACTORY), logins.isHeld(OURS)]).toEqual([false, false]);
  expect([await logins.attempt(FACTORY), await logins.attempt(OURS)]).toEqual(['refused', 'accepted']);
});

test('Logins holds the session of a user that was begun last, as a change elsewhere may have ended the others', async () => {
  const { logins, state } = aServer();
  await logins.attempt(FACTORY);
  for (const login of [OURS, FACTORY]) {
    state.password = login.password;
    await logins.attempt(login);
    expect(logins.heldBy('admin')).toBe(logins.session(login));
  }
});

test('Logins keeps the login of an administrator who sets the password of somebody else', async () => {
  const { logins } = aServer();
  await logins.attempt(FACTORY);
  await logins.setPassword(FACTORY, 'app', 'canary-app');
  expect(logins.isHeld(FACTORY)).toBe(true);
});

test('Logins forgets the logins of a user even when it is unknown whether the new password took effect', async () => {
  const { logins, state } = aServer();
  await logins.attempt(FACTORY);
  state.answers = new HttpError('lost', 'Connection reset');
  expect(await errorOf(logins.setPassword(FACTORY, 'admin', OURS.password))).toMatchObject({ effectUnknown: true });
  expect(logins.isHeld(FACTORY)).toBe(false);
});

test('Logins uses the session that it holds, and a new one for a login that it does not', async () => {
  const { logins, requests } = aServer();
  await logins.attempt(FACTORY);
  await logins.session(FACTORY).signIn();
  expect(requests).toHaveLength(1);
  await errorOf(logins.session(OURS).signIn());
  expect(requests).toHaveLength(2);
});

test('Logins recognizes a server that signs in with any password by one that was never given', async () => {
  const { logins, requests } = aServer();
  expect(await logins.acceptsAny('admin', createSeededRandom(1))).toBe(false);
  const anything = new Logins('https://server.example', () => anyServer.client);
  const anyServer = aServerClient(() => ({ status: 200, body: { token: 'token' } }));
  expect(await anything.acceptsAny('admin', createSeededRandom(1))).toBe(true);
  expect([requests.length, anyServer.requests.length]).toEqual([1, 1]);
});

test('Logins accepts only an answer to a List as proof that it may see users, and only a 403 as proof that it may not', async () => {
  const { logins, state } = aServer();
  const seen = (status: number) => {
    const { client } = aServerClient((request) => {
      if (request.url.endsWith('/v1/signin')) return { status: 200, body: { token: 'token' } };
      return { status, body: status === 200 ? { users: [] } : { code: 'X', message: 'x' } };
    });
    return new Logins('https://server.example', () => client).seesUsers(OURS);
  };
  expect([await seen(200), await seen(403)]).toEqual([true, false]);
  for (const status of [400, 401, 404, 429, 500, 503])
    expect(await errorOf(seen(status)), String(status)).toMatchObject({ name: 'ApiError', status });
  state.answers = new HttpError('lost', 'Connection reset');
  expect(await errorOf(logins.seesUsers(OURS))).toMatchObject({ name: 'ApiError', kind: 'lost' });
});

test('Logins connects once, to its server, and not before it must', async () => {
  const { client } = aServerClient(() => ({ status: 200, body: { token: 'token' } }));
  const connected: string[] = [];
  const logins = new Logins('https://server.example', (baseURL) => {
    connected.push(baseURL);
    return client;
  });
  expect([logins.baseURL, connected]).toEqual(['https://server.example', []]);
  for (const login of [FACTORY, OURS, FACTORY]) await logins.attempt(login);
  expect(connected).toEqual(['https://server.example']);
  // All that it tried are held.
  expect([FACTORY, OURS].map((login) => logins.isHeld(login))).toEqual([true, true]);
  expect(logins.isHeld({ ...FACTORY, username: 'other' })).toBe(false);
});

test('Logins treats only a 401 as a no, even for a login that is only tried, and holds none of these', async () => {
  const { logins, state } = aServer();
  expect([await logins.probe(FACTORY), await logins.probe(OURS)]).toEqual(['accepted', 'refused']);
  expect(logins.isHeld(FACTORY)).toBe(false);
  for (const answers of [403, 500, new HttpError('lost', 'Connection reset')]) {
    state.answers = answers;
    expect(await errorOf(logins.probe(FACTORY))).toMatchObject({ name: 'ApiError' });
  }
});

test('Logins forgets a session that is of no use, and no other', async () => {
  const { client } = aServerClient(() => ({ status: 200, body: { token: 'token' } }));
  const logins = new Logins('https://server.example', () => client);
  expect(logins.heldBy('admin')).toBeUndefined();
  for (const login of [FACTORY, { ...FACTORY, username: 'app' }]) await logins.attempt(login);
  const session = logins.session(FACTORY);
  expect(logins.heldBy('admin')).toBe(session);
  logins.drop(session);
  expect([logins.heldBy('admin'), logins.heldBy('app')?.username]).toEqual([undefined, 'app']);
  // There is nothing to forget.
  new Logins('https://server.example', () => client).drop(session);
});

test('Logins sets a password with the session that it is given', async () => {
  const { logins, state, requests } = aServer();
  await logins.attempt(FACTORY);
  await logins.setPassword(logins.session(FACTORY), 'admin', OURS.password);
  expect([state.password, requests.length]).toEqual([OURS.password, 2]);
});

test('Logins never shows a password, in an error or when it is printed', async () => {
  const { logins, state } = aServer();
  await logins.attempt(FACTORY);
  state.answers = 400;
  const error = await errorOf(logins.attempt(OURS));
  expect(JSON.stringify([error, String(error), logins])).not.toContain('canary');
});
