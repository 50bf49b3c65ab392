import { describe, expect, it } from 'vitest';
import { addressOf, CLUSTERS, cloudBench, clusterNamed, DEPLOY, sender } from '../../../test/support/simulator.ts';
import type { Knobs } from '../knobs.ts';

const SECOND: Partial<Knobs> = {
  provisionMs: [1000, 1000],
  suspendMs: [1000, 1000],
  resumeMs: [1000, 1000],
  destroyMs: [1000, 1000],
};

async function bench(knobs: Partial<Knobs> = SECOND) {
  const made = cloudBench({ knobs });
  const token = await made.token('admin');
  const ask = (method: string, path: string, body?: unknown) =>
    made.send(method, `${CLUSTERS}${path}`, { token, ...(body === undefined ? {} : { body }) });
  const look = async (id = 'orders') => {
    const answer = await ask('GET', `/${id}`);
    if (answer.status !== 200) return String(answer.status);
    const { status, servers } = answer.json() as { status: string; servers: { status: string }[] };
    return [status, ...servers.map((server) => server.status)].join(' ');
  };
  const server = (path: string, id = 'orders') =>
    sender(made.simulator.transport, `https://${addressOf(made.simulator, id)}`)('GET', path);
  return { ...made, ask, look, server, deploy: (id = 'orders') => ask('POST', '/deploy', { ...DEPLOY, id }) };
}

describe('a cluster', () => {
  it('goes through all its statuses, and its server with it', async () => {
    const { ask, look, deploy, server, clock } = await bench();
    expect((await deploy()).json()).toMatchObject({ status: 'starting', servers: [{ status: 'pending' }] });
    clock.advance(999);
    expect(await look()).toBe('starting pending');
    expect((await server('/health')).failure).toBe('unreachable');
    clock.advance(1);
    expect(await look()).toBe('running running');
    expect((await server('/health')).status).toBe(204);

    expect((await ask('POST', '/orders/suspend')).json()).toMatchObject({
      status: 'suspending',
      servers: [{ status: 'running' }],
    });
    expect((await server('/health')).status).toBe(204);
    clock.advance(1000);
    expect(await look()).toBe('suspended');
    expect((await server('/health')).failure).toBe('unreachable');

    expect((await ask('POST', '/orders/resume')).json()).toMatchObject({
      status: 'resuming',
      servers: [{ status: 'pending' }],
    });
    expect((await server('/health')).failure).toBe('unreachable');
    clock.advance(1000);
    expect(await look()).toBe('running running');

    expect((await ask('DELETE', '/orders')).json()).toMatchObject({
      status: 'destroying',
      servers: [{ status: 'running' }],
    });
    clock.advance(999);
    expect(await look()).toBe('destroying running');
    expect((await deploy()).status).toBe(409);
    clock.advance(1);
    expect(await look()).toBe('404');
    expect((await deploy()).status).toBe(200);
  });

  it('is running at once if no time should pass', async () => {
    const { look, deploy } = await bench({});
    await deploy();
    expect(await look()).toBe('running running');
  });

  it('draws the times of its transitions from their range', async () => {
    const { look, deploy, clock } = await bench({ provisionMs: [1000, 5000] });
    for (let number = 0; number < 20; number++) await deploy(`c${number}`);
    const starting = async () => {
      const looks = await Promise.all(Array.from({ length: 20 }, (_, number) => look(`c${number}`)));
      return looks.filter((seen) => seen.startsWith('starting')).length;
    };
    clock.advance(999);
    expect(await starting()).toBe(20);
    clock.advance(2000);
    const halfway = await starting();
    expect(halfway).toBeGreaterThan(0);
    expect(halfway).toBeLessThan(20);
    clock.advance(2001);
    expect(await starting()).toBe(0);
  });

  it('is running before its servers are, by as much as the knob says', async () => {
    const { look, deploy, server, clock } = await bench({ ...SECOND, serverLagMs: [500, 500] });
    await deploy();
    clock.advance(1000);
    expect(await look()).toBe('running pending');
    expect((await server('/health')).failure).toBe('unreachable');
    clock.advance(500);
    expect(await look()).toBe('running running');
  });

  it('has servers that come up as before when they are arranged anew, unless they are to be down', async () => {
    const { simulator, look, deploy, clock } = await bench({ ...SECOND, serverLagMs: [500, 500] });
    for (const id of ['orders', 'billing']) await deploy(id);
    clock.advance(1200);
    expect([await look(), await look('billing')]).toEqual(['running pending', 'running pending']);
    simulator.arrangeServers('orders', [{ address: addressOf(simulator, 'orders') ?? '' }]);
    simulator.arrangeServers('billing', [{ address: addressOf(simulator, 'billing') ?? '', status: 'pending' }]);
    clock.advance(500);
    expect([await look(), await look('billing')]).toEqual(['running running', 'running pending']);
  });

  it('keeps its addresses over a resume, or not, as the knob says', async () => {
    for (const resumeChangesAddress of [false, true]) {
      const { simulator, ask, deploy } = await bench({ resumeChangesAddress });
      await deploy();
      const before = addressOf(simulator, 'orders');
      await ask('POST', '/orders/suspend');
      await ask('POST', '/orders/resume');
      expect(addressOf(simulator, 'orders') === before).toBe(!resumeChangesAddress);
    }
  });

  it('keeps users and databases over a suspension, but no tokens', async () => {
    const { simulator, ask, deploy, clock } = await bench();
    await deploy();
    clock.advance(1000);
    simulator.setPassword('orders', 'admin', 'changed');
    simulator.createDatabase('orders', 'main');
    const send = sender(simulator.transport, `https://${addressOf(simulator, 'orders')}`);
    const signedIn = await send('POST', '/v1/signin', { body: { username: 'admin', password: 'changed' } });
    const token = String(signedIn.json()['token']);
    await ask('POST', '/orders/suspend');
    clock.advance(1000);
    await ask('POST', '/orders/resume');
    clock.advance(1000);
    expect((await send('GET', '/v1/databases', { token })).status).toBe(401);
    const again = await send('POST', '/v1/signin', { body: { username: 'admin', password: 'changed' } });
    const databases = await send('GET', '/v1/databases', { token: String(again.json()['token']) });
    expect(databases.json()).toEqual({ databases: [{ name: 'main' }] });
  });

  it('has as many servers as requested', async () => {
    const { ask } = await bench();
    const answer = await ask('POST', '/deploy', { ...DEPLOY, serverCount: 3, version: '2.29.1' });
    expect(answer.json()['servers']).toHaveLength(3);
  });
});

describe('a clone', () => {
  it.each([true, false])('has the data of its source, and its users if the knob says so: %s', async (keeps) => {
    const { simulator, ask, deploy } = await bench({ cloneKeepsUsers: keeps });
    await deploy();
    simulator.createDatabase('orders', 'main');
    simulator.setPassword('orders', 'admin', 'changed');
    simulator.setPassword('orders', 'app', 'app-password');
    const answer = await ask('POST', '/orders/clone', { id: 'copy' });
    const source = (await ask('GET', '/orders')).json();
    expect(answer.json()).toEqual({
      ...source,
      id: 'copy',
      status: 'starting',
      createdAt: expect.any(Number),
      servers: [{ address: expect.any(String), status: 'pending' }],
    });
    expect(answer.json()['createdAt']).not.toBe(source['createdAt']);
    expect(clusterNamed(simulator, 'copy')?.databases.map(({ name }) => name)).toEqual(['main']);
    expect(simulator.passwordIs('copy', 'admin', 'changed')).toBe(keeps);
    expect(simulator.passwordIs('copy', 'admin', 'password')).toBe(!keeps);
    expect(simulator.passwordIs('copy', 'app', 'app-password')).toBe(keeps);
  });

  it('goes its own way from then on', async () => {
    const { simulator, ask, deploy } = await bench({});
    await deploy();
    await ask('POST', '/orders/clone', { id: 'copy' });
    simulator.createDatabase('copy', 'extra');
    simulator.setPassword('copy', 'admin', 'changed');
    expect(clusterNamed(simulator, 'orders')?.databases).toEqual([]);
    expect(simulator.passwordIs('orders', 'admin', 'password')).toBe(true);
  });
});
