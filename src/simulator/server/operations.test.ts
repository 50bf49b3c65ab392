import { describe, expect, it } from 'vitest';
import { type SendOptions, serverBench, settled } from '../../../test/support/simulator.ts';
import { DIALECTS, type Dialect } from '../dialect.ts';
import { SERVER_ROUTES, type ServerOperation, type ServerRoute } from './routes.ts';

const SCHEMA = 'define attribute name, value string; entity person, owns name;';

/** A correct request for each operation, once `bench` has prepared the server. */
function requestFor(operation: ServerOperation, transactionId: string): { path: string; body?: unknown } {
  switch (operation) {
    case 'signIn':
      return { path: '/v1/signin', body: { username: 'admin', password: 'password' } };
    case 'createDatabase':
      return { path: '/v1/databases/fresh' };
    case 'getDatabase':
    case 'deleteDatabase':
      return { path: '/v1/databases/other' };
    case 'getSchema':
      return { path: '/v1/databases/main/schema' };
    case 'getTypeSchema':
      return { path: '/v1/databases/main/type-schema' };
    case 'createUser':
      return { path: '/v1/users/fresh', body: { password: 'secret' } };
    case 'updateUser':
      return { path: '/v1/users/app', body: { password: 'secret' } };
    case 'getUser':
    case 'deleteUser':
      return { path: '/v1/users/app' };
    case 'openTransaction':
      return { path: '/v1/transactions/open', body: { databaseName: 'main', transactionType: 'write' } };
    case 'closeTransaction':
    case 'commitTransaction':
    case 'rollbackTransaction':
      return { path: `/v1/transactions/${transactionId}/${operation.replace('Transaction', '')}` };
    case 'queryTransaction':
      return { path: `/v1/transactions/${transactionId}/query`, body: { query: 'match $p isa person;' } };
    case 'query':
      return {
        path: '/v1/query',
        body: { databaseName: 'main', transactionType: 'read', query: 'match $p isa person;', commit: false },
      };
    default:
      return { path: SERVER_ROUTES.find((route) => route.operation === operation)?.path ?? '' };
  }
}

async function bench(route: ServerRoute, dialect: Dialect) {
  const made = await serverBench(dialect);
  made.simulator.createDatabase('orders', 'other');
  made.simulator.setPassword('orders', 'app', 'app-password');
  await made.query('schema', SCHEMA);
  const opened = await made.send('POST', '/v1/transactions/open', {
    token: made.token,
    body: { databaseName: 'main', transactionType: 'write' },
  });
  const { path, body } = requestFor(route.operation, String(opened.json()['transactionId']));
  const standard: SendOptions = {
    ...(route.token ? { token: made.token } : {}),
    ...(body === undefined ? {} : { body }),
  };
  return { ...made, path, standard, ask: (options = standard, at = path) => made.send(route.method, at, options) };
}

const rows = DIALECTS.flatMap((dialect) => SERVER_ROUTES.map((route) => [route.operation, dialect, route] as const));
const guarded = rows.filter(([, , route]) => route.token);

describe('every operation', () => {
  it.each(rows)('%s in dialect %s answers a correct request', async (operation, dialect, route) => {
    const { ask } = await bench(route, dialect);
    expect((await ask()).status).toBe(operation === 'health' ? 204 : 200);
  });

  it.each(guarded)('%s in dialect %s judges a missing and an unknown token', async (_operation, dialect, route) => {
    const { ask, standard } = await bench(route, dialect);
    const { token: _, ...without } = standard;
    expect((await ask(without)).status).toBe(dialect === 'document' ? 400 : 401);
    expect((await ask({ ...without, token: 'nobody' })).status).toBe(401);
  });

  it.each(guarded)('%s in dialect %s answers 401 to a token that has expired', async (_operation, dialect, route) => {
    const { ask, clock } = await bench(route, dialect);
    clock.advance(4 * 3_600_000);
    expect((await ask()).status).toBe(401);
  });

  it.each(rows)('%s in dialect %s judges bodies', async (_operation, dialect, route) => {
    const { ask, standard } = await bench(route, dialect);
    const { body, ...rest } = standard;
    const malformed =
      body === undefined
        ? [{ ...rest, raw: '{}' }]
        : [
            rest,
            { ...rest, raw: '{' },
            { ...rest, raw: 'null' },
            { ...rest, body: { ...body, surprise: 1 } },
            { ...rest, body: {} },
            { ...standard, headers: { 'content-type': 'text/plain' } },
          ];
    for (const options of malformed) {
      const answer = await ask(options);
      expect(answer.status).toBe(400);
      if (dialect === 'field') expect(answer.headers['content-type']).toMatch(/^text\/plain/);
      else expect(answer.json()).toEqual({ code: 'malformedRequest', message: expect.any(String) });
    }
  });
});

describe('sign-in', () => {
  it.each([
    ['a wrong password', 'admin', 'wrong'],
    ['an unknown user', 'nobody', 'password'],
    ['an empty password', 'admin', ''],
  ])('answers 401 to %s', async (_, username, password) => {
    const { signIn } = await serverBench();
    expect((await signIn(username, password)).status).toBe(401);
  });

  it('looks only at the first 72 bytes of a password', async () => {
    const { simulator, signIn } = await serverBench();
    simulator.setPassword('orders', 'app', 'é'.repeat(36));
    expect((await signIn('app', `${'é'.repeat(36)}more`)).status).toBe(200);
    expect((await signIn('app', 'é'.repeat(35))).status).toBe(401);
  });

  it('checks one password after the other, each taking its time', async () => {
    const { clock, simulator, signIn } = await serverBench();
    simulator.setKnobs({ passwordCheckMs: 60 });
    const done: number[] = [];
    const start = clock.now();
    const note = () => done.push(clock.now() - start);
    const all = [signIn('admin', 'password'), signIn('admin', 'wrong'), signIn('nobody', 'x')];
    const noted = Promise.all(all.map((answer) => answer.then(note)));
    for (let step = 0; step < 3; step++) {
      await settled();
      clock.advance(60);
    }
    await noted;
    expect(done).toEqual([60, 120, 180]);
  });
});

describe('users', () => {
  const asApp = async (dialect: Dialect = 'document') => {
    const made = await serverBench(dialect);
    made.simulator.setPassword('orders', 'app', 'app-password');
    made.simulator.setPassword('orders', 'other', 'other-password');
    const app = String((await made.signIn('app', 'app-password')).json()['token']);
    return { ...made, app };
  };

  it.each([
    ['GET', '/v1/users', undefined],
    ['GET', '/v1/users/other', undefined],
    ['POST', '/v1/users/fresh', { password: 'x' }],
    ['PUT', '/v1/users/other', { password: 'x' }],
    ['DELETE', '/v1/users/other', undefined],
    ['DELETE', '/v1/users/app', undefined],
  ])('%s %s is 403 for everybody except the default user', async (method, path, body) => {
    const { send, app } = await asApp();
    expect((await send(method, path, { token: app, ...(body === undefined ? {} : { body }) })).status).toBe(403);
  });

  it('may look at themselves, change their own password, and use all data', async () => {
    const { send, app } = await asApp();
    expect((await send('GET', '/v1/users/app', { token: app })).json()).toEqual({ username: 'app' });
    expect((await send('POST', '/v1/databases/theirs', { token: app })).status).toBe(200);
    expect((await send('PUT', '/v1/users/app', { token: app, body: { password: 'new' } })).status).toBe(200);
  });

  it('are not found when they do not exist', async () => {
    const { send, token } = await serverBench();
    expect((await send('GET', '/v1/users/nobody', { token })).status).toBe(404);
    expect((await send('PUT', '/v1/users/nobody', { token, body: { password: 'x' } })).status).toBe(404);
    expect((await send('DELETE', '/v1/users/nobody', { token })).status).toBe(404);
  });

  it.each(DIALECTS)('are not created twice in dialect %s', async (dialect) => {
    const { send, token } = await serverBench(dialect);
    const create = () => send('POST', '/v1/users/app', { token, body: { password: 'x' } });
    expect((await create()).status).toBe(200);
    expect((await create()).status).toBe(400);
  });

  it.each(['a b', '1a', '-a', 'a/b', 'a.b', '%20'])('cannot be named %j', async (name) => {
    const { send, token } = await serverBench();
    const path = `/v1/users/${encodeURIComponent(name)}`;
    expect((await send('POST', path, { token, body: { password: 'x' } })).status).toBe(400);
  });

  it.each(['a', '_a', 'a-b', 'größe', '数据', 'a1'])('can be named %j', async (name) => {
    const { send, token, signIn } = await serverBench();
    const path = `/v1/users/${encodeURIComponent(name)}`;
    expect((await send('POST', path, { token, body: { password: 'x' } })).status).toBe(200);
    expect((await signIn(name, 'x')).status).toBe(200);
  });

  it.each(DIALECTS)('include a default user that cannot be deleted, in dialect %s', async (dialect) => {
    const { send, token } = await serverBench(dialect);
    expect((await send('DELETE', '/v1/users/admin', { token })).status).toBe(400);
    expect((await send('GET', '/v1/users', { token })).json()).toEqual({ users: [{ username: 'admin' }] });
  });

  it.each(DIALECTS)('lose tokens and transactions when they are updated, in dialect %s', async (dialect) => {
    const { send, app, token, simulator } = await asApp(dialect);
    const open = { databaseName: 'main', transactionType: 'schema' };
    await send('POST', '/v1/transactions/open', { token: app, body: open });
    await send('PUT', '/v1/users/app', { token, body: { password: 'app-password' } });
    expect((await send('GET', '/v1/databases', { token: app })).status).toBe(401);
    expect((await send('GET', '/v1/databases', { token })).status).toBe(200);
    expect(simulator.inspect().teams[0]?.spaces[0]?.clusters[0]?.openTransactions).toBe(0);
  });

  it('lose nothing by an update if the knob says so', async () => {
    const { send, token, simulator } = await serverBench();
    simulator.setKnobs({ userUpdateEndsTokens: false });
    await send('PUT', '/v1/users/admin', { token, body: { password: 'new' } });
    expect((await send('GET', '/v1/databases', { token })).status).toBe(200);
  });

  it('are gone with everything they had open when they are deleted', async () => {
    const { send, app, token, signIn } = await asApp();
    expect((await send('DELETE', '/v1/users/app', { token })).status).toBe(200);
    expect((await send('GET', '/v1/databases', { token: app })).status).toBe(401);
    expect((await signIn('app', 'app-password')).status).toBe(401);
  });
});

describe('databases', () => {
  it('are listed in the order they were made', async () => {
    const { send, token } = await serverBench();
    await send('POST', '/v1/databases/b', { token });
    await send('POST', '/v1/databases/a', { token });
    expect((await send('GET', '/v1/databases', { token })).json()).toEqual({
      databases: [{ name: 'main' }, { name: 'b' }, { name: 'a' }],
    });
  });

  it('are not found when they do not exist', async () => {
    const { send, token } = await serverBench();
    for (const path of ['/v1/databases/no', '/v1/databases/no/schema', '/v1/databases/no/type-schema']) {
      expect((await send('GET', path, { token })).status).toBe(404);
    }
  });

  it('cannot have names that are not identifiers', async () => {
    const { send, token } = await serverBench();
    expect((await send('POST', '/v1/databases/a%20b', { token })).status).toBe(400);
    expect((await send('POST', '/v1/databases/..%2Fusers', { token })).status).toBe(400);
  });

  it('are not deleted while a transaction is open on them', async () => {
    const { send, token } = await serverBench();
    const body = { databaseName: 'main', transactionType: 'read' };
    const opened = await send('POST', '/v1/transactions/open', { token, body });
    expect((await send('DELETE', '/v1/databases/main', { token })).status).toBe(400);
    await send('POST', `/v1/transactions/${opened.json()['transactionId']}/close`, { token });
    expect((await send('DELETE', '/v1/databases/main', { token })).status).toBe(200);
  });
});

describe('version and health', () => {
  it('report the version of the cluster and need no token', async () => {
    const { send } = await serverBench();
    expect((await send('GET', '/v1/version')).json()).toEqual({
      distribution: expect.any(String),
      version: '3.12.0',
    });
    expect(await send('GET', '/health')).toMatchObject({ status: 204, text: '' });
  });
});

describe('paths', () => {
  it.each([
    ['GET', '/v1/signin', 405],
    ['DELETE', '/health', 405],
    ['GET', '/v2/version', 404],
    ['GET', '/v1/databases/', 404],
    ['GET', '/', 404],
  ])('%s %s answers %i, in the field without a body', async (method, path, status) => {
    const inDocument = await (await serverBench('document')).send(method, path);
    expect([inDocument.status, inDocument.json()['code']]).toEqual([status, expect.any(String)]);
    expect(await (await serverBench('field')).send(method, path)).toMatchObject({ status, text: '' });
  });
});
