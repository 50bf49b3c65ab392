import { describe, expect, it } from 'vitest';
import { CLUSTERS, cloudBench, clusterNamed, DEPLOY, type SendOptions } from '../../../test/support/simulator.ts';
import { DIALECTS } from '../dialect.ts';
import { CLOUD_ROUTES, type CloudOperation } from './routes.ts';
import { type ClusterStatus, LEVELS } from './state.ts';

/** A correct request for each operation, for a running cluster `orders` and an id `fresh`. */
const REQUESTS: Readonly<Record<CloudOperation, { readonly path: string; readonly body?: unknown }>> = {
  exchangeToken: { path: '/api/v1/auth' },
  deploy: { path: `${CLUSTERS}/deploy`, body: { ...DEPLOY, id: 'fresh' } },
  get: { path: `${CLUSTERS}/orders` },
  list: { path: CLUSTERS },
  update: { path: `${CLUSTERS}/orders`, body: { storageSizeGB: 200 } },
  suspend: { path: `${CLUSTERS}/orders/suspend` },
  resume: { path: `${CLUSTERS}/orders/resume` },
  clone: { path: `${CLUSTERS}/orders/clone`, body: { id: 'fresh' } },
  destroy: { path: `${CLUSTERS}/orders` },
  listVersions: { path: '/api/v1/cluster-versions' },
};

const operations = CLOUD_ROUTES.map((route) => route.operation);
const guarded = CLOUD_ROUTES.filter((route) => route.level !== undefined).map((route) => route.operation);
const withCluster = ['get', 'update', 'suspend', 'resume', 'clone', 'destroy'] as const;

async function bench(operation: CloudOperation, dialect: 'document' | 'field' = 'document') {
  const made = cloudBench({ dialect });
  made.simulator.deployForeign({ ...DEPLOY, id: 'orders' });
  const admin = await made.token('admin');
  if (operation === 'resume') await made.send('POST', `${CLUSTERS}/orders/suspend`, { token: admin });
  const { method } = CLOUD_ROUTES.find((route) => route.operation === operation) ?? { method: 'GET' };
  const { path, body } = REQUESTS[operation];
  const standard: SendOptions =
    operation === 'exchangeToken'
      ? { headers: { authorization: 'Basic admin-id:admin-secret-0123456789' } }
      : { token: admin, ...(body === undefined ? {} : { body }) };
  const ask = (options: SendOptions = standard, at = path) => made.send(method, at, options);
  return { ...made, ask, standard, path, method };
}

describe.each(DIALECTS)('in dialect %s', (dialect) => {
  it.each(operations)('%s answers 200 to a correct request', async (operation) => {
    const { ask } = await bench(operation, dialect);
    expect((await ask()).status).toBe(200);
  });

  it.each(operations.filter((operation) => operation !== 'exchangeToken'))(
    '%s answers 400 without a token, 401 with an unknown one',
    async (operation) => {
      const { ask, standard } = await bench(operation, dialect);
      const { token: _, ...without } = standard;
      expect((await ask(without)).status).toBe(400);
      expect((await ask({ ...without, headers: { authorization: 'Bearer ' } })).status).toBe(400);
      const unknown = await ask({ ...without, token: 'nobody' });
      expect(unknown.status).toBe(401);
      expect(unknown.json()).toEqual({ code: expect.any(String), message: expect.any(String) });
    },
  );

  it.each(operations.filter((operation) => operation !== 'exchangeToken'))(
    '%s answers 401 to a token that has expired',
    async (operation) => {
      const { ask, clock } = await bench(operation, dialect);
      clock.advance(3_600_000);
      expect((await ask()).status).toBe(401);
    },
  );

  it.each(guarded)('%s answers 404 for an unknown team and an unknown space', async (operation) => {
    const { ask, standard, path } = await bench(operation, dialect);
    expect((await ask(standard, path.replace('acme', 'nobody'))).status).toBe(404);
    expect((await ask(standard, path.replace('production', 'nowhere'))).status).toBe(404);
  });

  it.each(guarded)('%s answers 403 to a token of another space', async (operation) => {
    const { ask, standard, path } = await bench(operation, dialect);
    expect((await ask(standard, path.replace('production', 'staging'))).status).toBe(403);
  });

  it.each(withCluster)('%s answers 404 for an unknown cluster', async (operation) => {
    const { ask, standard, path } = await bench(operation, dialect);
    const answer = await ask(standard, path.replace('orders', 'nothing'));
    expect([answer.status, answer.json()['code']]).toEqual([404, 'clusterNotFound']);
  });

  it.each(operations)('%s refuses a body if none is allowed, and one that is not JSON if one is', async (operation) => {
    const { ask, standard } = await bench(operation, dialect);
    const { body, ...rest } = standard;
    if (body === undefined) expect((await ask({ ...rest, raw: '{}' })).status).toBe(400);
    else {
      expect((await ask(rest)).status).toBe(400);
      expect((await ask({ ...rest, raw: '{"id":' })).status).toBe(400);
      expect((await ask({ ...rest, raw: '[]' })).status).toBe(400);
      expect((await ask({ ...rest, body: { ...body, surprise: 1 } })).status).toBe(400);
      expect((await ask({ ...standard, headers: { 'content-type': 'text/plain' } })).status).toBe(400);
    }
  });

  it.each(operations)('%s refuses a query string', async (operation) => {
    const { ask, standard, path } = await bench(operation, dialect);
    expect((await ask(standard, `${path}?a=b`)).status).toBe(400);
  });
});

describe('access levels', () => {
  const needed = Object.fromEntries(CLOUD_ROUTES.map((route) => [route.operation, route.level]));

  it.each(guarded.flatMap((operation) => LEVELS.map((level) => [operation, level] as const)))(
    'judge %s with a token of level %s, nested or not',
    async (operation, level) => {
      const { simulator, ask, standard, token } = await bench(operation);
      const wanted = needed[operation] ?? 'read';
      const options = { ...standard, token: await token(level) };
      simulator.setKnobs({ levelsNest: false });
      const alone = (await ask(options)).status;
      expect(alone).toBe(level === wanted ? 200 : 403);
      if (alone === 200) return;
      simulator.setKnobs({ levelsNest: true });
      expect((await ask(options)).status).toBe(LEVELS.indexOf(level) >= LEVELS.indexOf(wanted) ? 200 : 403);
    },
  );
});

describe('token exchange', () => {
  it('answers the token as a plain string', async () => {
    const { send } = cloudBench();
    const answer = await send('POST', '/api/v1/auth', {
      headers: { authorization: 'Basic read-id:read-secret-0123456789' },
    });
    expect(answer.headers['content-type']).toMatch(/^text\/plain/);
    expect(answer.text).toMatch(/^access-[\w-]{24}$/);
  });

  it.each([
    ['no header', undefined],
    ['no credentials', 'Basic '],
    ['no secret', 'Basic read-id'],
    ['another scheme', 'Bearer read-id:read-secret-0123456789'],
    ['base64', `Basic ${Buffer.from('read-id:read-secret-0123456789').toString('base64')}`],
    ['an unknown client id', 'Basic nobody:read-secret-0123456789'],
    ['a wrong client secret', 'Basic read-id:wrong'],
    ["another token's secret", 'Basic read-id:write-secret-0123456789'],
  ])('answers 400 to %s', async (_, authorization) => {
    const { send } = cloudBench();
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await send('POST', '/api/v1/auth', { headers });
    expect(answer.status).toBe(400);
    expect(answer.json()).toEqual({ code: expect.any(String), message: expect.any(String) });
  });

  it('gives a new token each time, and the old one stays valid', async () => {
    const { send, token } = cloudBench();
    const [first, second] = [await token('read'), await token('read')];
    expect(first).not.toBe(second);
    expect((await send('GET', CLUSTERS, { token: first })).status).toBe(200);
  });
});

describe('answers', () => {
  it('hold exactly the fields of the document', async () => {
    const { send, token, clock } = cloudBench({ knobs: { provisionMs: [1000, 1000] } });
    const answer = await send('POST', `${CLUSTERS}/deploy`, { token: await token('write'), body: DEPLOY });
    const { backupConfiguration: _, ...fields } = DEPLOY;
    expect(answer.json()).toEqual({
      ...fields,
      status: 'starting',
      createdAt: clock.now(),
      teamID: 'acme',
      spaceID: 'production',
      servers: [{ address: expect.any(String), status: 'pending' }],
    });
  });

  it('resolve latest to the newest version', async () => {
    const { send, token } = cloudBench({ availableVersions: ['3.9.1', '3.12.0', '2.30.0'] });
    const body = { ...DEPLOY, version: 'latest' };
    const answer = await send('POST', `${CLUSTERS}/deploy`, { token: await token('write'), body });
    expect(answer.json()['version']).toBe('3.12.0');
  });

  it('list all clusters of the space and none of another', async () => {
    const { simulator, send, token } = cloudBench();
    simulator.deployForeign({ id: 'a' });
    simulator.deployForeign({ id: 'b' });
    simulator.deployForeign({ id: 'c', spaceID: 'staging' });
    const answer = await send('GET', CLUSTERS, { token: await token('read') });
    expect((JSON.parse(answer.text) as { id: string }[]).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('list the available versions', async () => {
    const { send, token } = cloudBench({ availableVersions: ['3.5.0'] });
    const answer = await send('GET', '/api/v1/cluster-versions', { token: await token('read') });
    expect(answer.json()).toEqual({ availableVersions: ['3.5.0'] });
  });

  it('keep createdAt through a rename, and never give it twice', async () => {
    const { send, token, simulator } = cloudBench();
    simulator.deployForeign({ id: 'orders' });
    const before = clusterNamed(simulator, 'orders')?.createdAt;
    const options = { token: await token('admin') };
    const renamed = await send('PATCH', `${CLUSTERS}/orders`, { ...options, body: { id: 'renamed' } });
    expect(renamed.json()).toMatchObject({ id: 'renamed', createdAt: before });
    expect((await send('GET', `${CLUSTERS}/orders`, options)).status).toBe(404);
    await send('DELETE', `${CLUSTERS}/renamed`, options);
    const again = await send('POST', `${CLUSTERS}/deploy`, { ...options, body: { ...DEPLOY, id: 'renamed' } });
    expect(again.json()['createdAt']).not.toBe(before);
  });

  it('answer 409 for an id in use to deploy, whatever else is wrong', async () => {
    const { send, token, simulator } = cloudBench();
    simulator.deployForeign({ id: 'orders' });
    const body = { ...DEPLOY, serverCount: 2 };
    const answer = await send('POST', `${CLUSTERS}/deploy`, { token: await token('write'), body });
    expect([answer.status, answer.json()['code']]).toEqual([409, 'clusterIDInUse']);
  });
});

describe('paths', () => {
  it.each([
    ['GET', '/api/v1/auth', 405],
    ['PUT', `${CLUSTERS}/orders`, 405],
    ['POST', `${CLUSTERS}/orders`, 405],
    ['GET', '/api/v1/nothing', 404],
    ['GET', `${CLUSTERS}/`, 404],
    ['GET', `${CLUSTERS}/orders/`, 404],
    ['GET', '/api/v2/cluster-versions', 404],
    ['GET', `${CLUSTERS}/%ff`, 400],
    ['GET', `${CLUSTERS}/..%2Fstaging`, 404],
    ['GET', `${CLUSTERS}/%E2%82%AC`, 404],
  ])('%s %s answers %i', async (method, path, status) => {
    const { send, token } = cloudBench();
    const answer = await send(method, path, { token: await token('admin') });
    expect(answer.status).toBe(status);
    if (status === 405) expect(answer.headers['allow']).not.toBeUndefined();
    expect(answer.json()).toEqual({ code: expect.any(String), message: expect.any(String) });
  });
});

describe('statuses from which an operation is accepted', () => {
  const transitional = ['starting', 'suspending', 'resuming', 'destroying'] as const;
  const accepted: Readonly<Record<'update' | 'suspend' | 'resume' | 'clone' | 'destroy', readonly ClusterStatus[]>> = {
    update: ['running', 'suspended'],
    suspend: ['running'],
    resume: ['suspended'],
    clone: ['running', 'suspended'],
    destroy: ['running', 'suspended'],
  };
  const all: readonly ClusterStatus[] = ['running', 'suspended', ...transitional];
  const rows = (['update', 'suspend', 'resume', 'clone', 'destroy'] as const).flatMap((operation) =>
    all.map((status) => [operation, status] as const),
  );

  async function arrange(status: ClusterStatus) {
    const made = cloudBench();
    const token = await made.token('admin');
    const ask = (operation: CloudOperation) => {
      const { method } = CLOUD_ROUTES.find((route) => route.operation === operation) ?? { method: '' };
      const { path, body } = REQUESTS[operation];
      return made.send(method, path, { token, ...(body === undefined ? {} : { body }) });
    };
    made.simulator.deployForeign({ ...DEPLOY, id: 'orders' });
    if (status === 'suspended' || status === 'resuming') await ask('suspend');
    await ask('get');
    const slow: readonly [number, number] = [60_000, 60_000];
    made.simulator.setKnobs({ provisionMs: slow, suspendMs: slow, resumeMs: slow, destroyMs: slow });
    if (status === 'starting') {
      made.simulator.vanish('orders');
      await made.send('POST', `${CLUSTERS}/deploy`, { token, body: DEPLOY });
    }
    if (status === 'suspending') await ask('suspend');
    if (status === 'resuming') await ask('resume');
    if (status === 'destroying') await ask('destroy');
    expect(clusterNamed(made.simulator, 'orders')?.status).toBe(status);
    return { ...made, ask };
  }

  it.each(rows)('%s of a cluster that is %s', async (operation, status) => {
    const { ask, simulator } = await arrange(status);
    const isAccepted = accepted[operation].includes(status);
    const answer = await ask(operation);
    expect(answer.status).toBe(isAccepted ? 200 : 400);
    if (isAccepted) return;
    expect(answer.json()['code']).toBe('invalidClusterStatus');
    simulator.setKnobs({ transitionalOperations: 'accept', redundantOperations: 'accept' });
    expect((await ask(operation)).status).toBe(200);
  });
});
