import { describe, expect, it } from 'vitest';
import {
  addressOf,
  CLUSTERS,
  cloudBench,
  clusterNamed,
  DEPLOY,
  sender,
  serverBench,
  settled,
} from '../../../test/support/simulator.ts';
import { FAULT_EFFECTS, type Fault, type FaultEffect } from './faults.ts';

async function bench() {
  const made = cloudBench();
  const token = await made.token('admin');
  const deploy = (id = 'orders', signal?: AbortSignal) =>
    made.send('POST', `${CLUSTERS}/deploy`, {
      token,
      body: { ...DEPLOY, id },
      ...(signal === undefined ? {} : { signal }),
    });
  const list = () => made.send('GET', CLUSTERS, { token });
  return {
    ...made,
    admin: token,
    deploy,
    list,
    exists: (id = 'orders') => clusterNamed(made.simulator, id) !== undefined,
  };
}

type Expectation = { status: number; done: boolean; failure?: 'lost'; headers?: Record<string, string> };

describe('a fault', () => {
  const immediate: readonly (readonly [string, Fault, Expectation])[] = [
    ['errorBefore', { effect: 'errorBefore' }, { status: 500, done: false }],
    ['errorBefore with a status', { effect: 'errorBefore', status: 418 }, { status: 418, done: false }],
    ['5xx', { effect: '5xx' }, { status: 503, done: false }],
    [
      '5xx with Retry-After',
      { effect: '5xx', status: 504, retryAfterSeconds: 7 },
      { status: 504, done: false, headers: { 'retry-after': '7' } },
    ],
    ['429', { effect: '429' }, { status: 429, done: false, headers: { 'retry-after': '1' } }],
    [
      '429 with Retry-After',
      { effect: '429', retryAfterSeconds: 30 },
      { status: 429, done: false, headers: { 'retry-after': '30' } },
    ],
    ['html', { effect: 'html' }, { status: 502, done: false, headers: { 'content-type': 'text/html' } }],
    ['reset', { effect: 'reset' }, { status: 0, done: false, failure: 'lost' }],
    ['outage', { effect: 'outage' }, { status: 0, done: false, failure: 'lost' }],
    ['expiredToken', { effect: 'expiredToken' }, { status: 401, done: false }],
    ['lostAnswer', { effect: 'lostAnswer' }, { status: 0, done: true, failure: 'lost' }],
    ['brokenBody', { effect: 'brokenBody' }, { status: 0, done: true, failure: 'lost' }],
    ['errorAfter', { effect: 'errorAfter' }, { status: 500, done: true }],
    ['errorAfter with a status', { effect: 'errorAfter', status: 409 }, { status: 409, done: true }],
    ['truncated', { effect: 'truncated' }, { status: 200, done: true }],
  ];

  it.each(immediate)('%s does as it says', async (_, fault, expected) => {
    const { simulator, deploy, exists } = await bench();
    simulator.faults.add({ match: { operation: 'deploy' }, times: 1, ...fault });
    const answer = await deploy();
    expect([answer.status, answer.failure, exists()]).toEqual([expected.status, expected.failure, expected.done]);
    expect(answer.headers).toMatchObject(expected.headers ?? {});
    if (fault.effect === 'truncated') expect(() => answer.json()).toThrow(SyntaxError);
  });

  it.each([
    ['delay', false],
    ['lateAnswer', true],
  ] as const)('%s waits, and the work is done meanwhile: %s', async (effect, done) => {
    const { simulator, deploy, exists, clock } = await bench();
    simulator.faults.add({ effect, delayMs: 500, match: { operation: 'deploy' } });
    const answer = deploy();
    await settled();
    expect(exists()).toBe(done);
    clock.advance(500);
    expect((await answer).status).toBe(200);
    expect(exists()).toBe(true);
  });

  it('hang never answers and does nothing', async () => {
    const { simulator, deploy, exists, clock } = await bench();
    simulator.faults.add({ effect: 'hang', match: { operation: 'deploy' } });
    const given = new AbortController();
    const [timed, aborted] = [deploy('a'), deploy('b', given.signal)];
    await settled();
    given.abort();
    expect((await aborted).failure).toBe('aborted');
    clock.advance(20_000);
    expect((await timed).failure).toBe('lost');
    expect([exists('a'), exists('b')]).toEqual([false, false]);
  });

  it('outage of a server refuses connections', async () => {
    const { simulator } = await bench();
    simulator.deployForeign({ id: 'orders' });
    simulator.deployForeign({ id: 'other' });
    const health = (id: string) => sender(simulator.transport, `https://${addressOf(simulator, id)}`)('GET', '/health');
    const id = simulator.faults.add({ effect: 'outage', match: { api: 'server', clusterID: 'orders' } });
    expect((await health('orders')).failure).toBe('unreachable');
    expect((await health('other')).status).toBe(204);
    simulator.faults.remove(id);
    expect((await health('orders')).status).toBe(204);
  });

  it('and a server that goes down while a request waits leaves it without an answer', async () => {
    const { simulator, clock, send, token } = await serverBench();
    simulator.faults.add({ effect: 'delay', delayMs: 500, match: { api: 'server' } });
    const waiting = send('POST', '/v1/databases/fresh', { token });
    await settled();
    simulator.vanish('orders');
    clock.advance(500);
    expect((await waiting).failure).toBe('lost');
  });

  it('strikes together with a sentinel', async () => {
    const { simulator, deploy, exists } = await bench();
    simulator.faults.add({ effect: 'expiredToken', times: 1, match: { operation: 'list' } });
    simulator.faults.add({ effect: 'lateAnswer', delayMs: 0, match: { operation: 'deploy' } });
    expect((await deploy('orders-lost-answer')).failure).toBe('lost');
    expect(exists('orders-lost-answer')).toBe(true);
  });

  it('expiredToken ends a token of a server too', async () => {
    const { simulator, send, token } = await serverBench();
    simulator.faults.add({ effect: 'expiredToken', match: { api: 'server' }, times: 1 });
    expect((await send('GET', '/v1/databases', { token })).status).toBe(401);
    expect((await send('GET', '/v1/databases', { token })).status).toBe(401);
  });

  it('is tested for every effect', () => {
    const tested = [...immediate.map(([, { effect }]) => effect), 'delay', 'lateAnswer', 'hang'];
    expect((Object.keys(FAULT_EFFECTS) as FaultEffect[]).filter((effect) => !tested.includes(effect))).toEqual([]);
  });
});

describe('faults strike', () => {
  it('as often as they should, after those they let through', async () => {
    const { simulator, list } = await bench();
    simulator.faults.add({ effect: '5xx', match: { operation: 'list' }, skip: 1, times: 2 });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++) statuses.push((await list()).status);
    expect(statuses).toEqual([200, 503, 503, 200, 200]);
    expect(simulator.faults.list()).toEqual([]);
  });

  it('one after the other, delays together with any', async () => {
    const { simulator, list, clock } = await bench();
    simulator.faults.add({ effect: '429', times: 1 });
    simulator.faults.add({ effect: '5xx', times: 1 });
    simulator.faults.add({ effect: 'delay', delayMs: 100, times: 1 });
    const first = list();
    await settled();
    clock.advance(100);
    expect((await first).status).toBe(429);
    expect((await list()).status).toBe(503);
    expect((await list()).status).toBe(200);
  });

  it('by chance if they are told to', async () => {
    const { simulator, list } = await bench();
    simulator.faults.add({ effect: '5xx', probability: 0.5 });
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 200; attempt++) statuses.push((await list()).status);
    const failed = statuses.filter((status) => status === 503).length;
    expect(failed).toBeGreaterThan(60);
    expect(failed).toBeLessThan(140);
  });

  it.each([
    [{ api: 'cloud' }, true],
    [{ api: 'server' }, false],
    [{ operation: 'deploy' }, true],
    [{ operation: ['clone', 'deploy'] }, true],
    [{ operation: 'clone' }, false],
    [{ method: 'POST', teamID: 'acme', spaceID: 'production' }, true],
    [{ spaceID: 'staging' }, false],
    [{ clusterID: 'orders' }, true],
    [{ clusterID: 'other' }, false],
    [{ username: 'admin' }, false],
    [{}, true],
  ] as const)('what matches %j: %s', async (match, struck) => {
    const { simulator, deploy } = await bench();
    simulator.faults.add({ effect: '5xx', match });
    expect((await deploy()).status).toBe(struck ? 503 : 200);
  });

  it.each([
    ['signIn', { username: 'admin' }],
    ['openTransaction', { databaseName: 'main' }],
    ['query', { databaseName: 'main', clusterID: 'orders' }],
    ['getDatabase', { databaseName: 'main' }],
  ] as const)('%s by %j', async (operation, match) => {
    const { simulator, send, signIn, token, query } = await serverBench();
    simulator.faults.add({ effect: '5xx', match: { operation, ...match } });
    const body = { databaseName: 'main', transactionType: 'read' };
    const answers = {
      signIn: () => signIn('admin', 'password'),
      openTransaction: () => send('POST', '/v1/transactions/open', { token, body }),
      query: () => query('read', 'match $x isa y;'),
      getDatabase: () => send('GET', '/v1/databases/main', { token }),
    };
    expect((await answers[operation]()).status).toBe(503);
  });

  it('until they are removed', async () => {
    const { simulator, list } = await bench();
    const id = simulator.faults.add({ effect: '5xx' });
    expect((await list()).status).toBe(503);
    expect(simulator.faults.list()).toMatchObject([{ id, effect: '5xx', hits: 1 }]);
    expect([simulator.faults.remove(id), simulator.faults.remove(id)]).toEqual([true, false]);
    simulator.faults.add({ effect: '429' });
    simulator.faults.clear();
    expect((await list()).status).toBe(200);
  });
});

describe('the list of requests', () => {
  it('shows what was asked and how it ended, and no secret', async () => {
    const { simulator, deploy, admin } = await bench();
    simulator.faults.add({ effect: 'lostAnswer', times: 1, match: { operation: 'deploy' } });
    await deploy();
    await deploy();
    simulator.deployForeign({ id: 'other' });
    const send = sender(simulator.transport, `https://${addressOf(simulator, 'other')}`);
    await send('POST', '/v1/signin', { body: { username: 'admin', password: 'password' } });
    const { requests, counters } = simulator.inspect();
    expect(requests.map(({ operation, status, clusterID, faults }) => [operation, status, clusterID, faults])).toEqual([
      ['exchangeToken', 200, undefined, []],
      ['deploy', 0, 'orders', ['lostAnswer']],
      ['deploy', 409, 'orders', []],
      ['signIn', 200, 'other', []],
    ]);
    expect(counters).toEqual({
      total: 4,
      byOperation: { exchangeToken: 1, deploy: 2, signIn: 1 },
      byCluster: { orders: { deploy: 2 }, other: { signIn: 1 } },
    });
    expect([simulator.count('deploy', 'orders'), simulator.count('deploy'), simulator.count('list')]).toEqual([
      2, 2, 0,
    ]);
    const shown = JSON.stringify(simulator.inspect());
    for (const secret of [admin, 'admin-secret-0123456789', '"password"']) expect(shown).not.toContain(secret);
    simulator.resetCounters();
    expect(simulator.inspect().counters.total).toBe(0);
  });

  it('does not grow without end', async () => {
    const { simulator, list } = await bench();
    for (let attempt = 0; attempt < 1_200; attempt++) await list();
    expect(simulator.inspect().requests).toHaveLength(500);
    expect(simulator.count('list')).toBe(1_200);
  });
});

describe('echoed secrets', () => {
  it('stand in error messages of both interfaces, only if the knob says so', async () => {
    for (const echoSecrets of [false, true]) {
      const { send } = cloudBench({ knobs: { echoSecrets } });
      const authorization = 'Basic read-id:a-wrong-secret';
      const answer = await send('POST', '/api/v1/auth', { headers: { authorization } });
      expect(answer.text.includes('a-wrong-secret')).toBe(echoSecrets);
      const { signIn, simulator } = await serverBench('field');
      simulator.setKnobs({ echoSecrets });
      expect((await signIn('admin', 'a-wrong-password')).text.includes('a-wrong-password')).toBe(echoSecrets);
    }
  });
});
