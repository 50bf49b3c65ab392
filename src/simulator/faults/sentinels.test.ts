import { describe, expect, it } from 'vitest';
import {
  addressOf,
  CLUSTERS,
  type CloudBench,
  cloudBench,
  clusterNamed,
  DEPLOY,
  sender,
} from '../../../test/support/simulator.ts';
import type { Knobs } from '../knobs.ts';
import { hasSentinel, SENTINELS, type SentinelName } from './sentinels.ts';

async function bench(knobs: Partial<Knobs> = {}) {
  const made = cloudBench({ knobs });
  const token = await made.token('admin');
  const ask = (method: string, path: string, body?: unknown) =>
    made.send(method, `${CLUSTERS}${path}`, { token, ...(body === undefined ? {} : { body }) });
  return { ...made, ask, deploy: (id: string) => ask('POST', '/deploy', { ...DEPLOY, id }) };
}

const exists = ({ simulator }: CloudBench, id: string) => clusterNamed(simulator, id) !== undefined;

/** What each sentinel does, shown on a cluster named after it. */
const behaviours: Readonly<Record<SentinelName, (id: string) => Promise<void>>> = {
  failDeploy: async (id) => {
    const made = await bench();
    expect((await made.deploy(id)).status).toBe(500);
    expect((await made.deploy(id)).status).toBe(500);
    expect(exists(made, id)).toBe(false);
  },
  failUpdate: async (id) => {
    const { ask, deploy, simulator } = await bench();
    await deploy(id);
    expect((await ask('PATCH', `/${id}`, { storageSizeGB: 200 })).status).toBe(500);
    expect(clusterNamed(simulator, id)?.storageSizeGB).toBe(100);
  },
  failSuspend: async (id) => {
    const { ask, deploy, simulator } = await bench();
    await deploy(id);
    expect((await ask('POST', `/${id}/suspend`)).status).toBe(500);
    expect(clusterNamed(simulator, id)?.status).toBe('running');
  },
  failResume: async (id) => {
    const { ask, deploy, simulator } = await bench();
    await deploy(id);
    await ask('POST', `/${id}/suspend`);
    expect((await ask('POST', `/${id}/resume`)).status).toBe(500);
    expect(clusterNamed(simulator, id)?.status).toBe('suspended');
  },
  failClone: async (id) => {
    const made = await bench();
    await made.deploy('orders');
    expect((await made.ask('POST', '/orders/clone', { id })).status).toBe(500);
    expect(exists(made, id)).toBe(false);
  },
  failDestroy: async (id) => {
    const made = await bench();
    await made.deploy(id);
    expect((await made.ask('DELETE', `/${id}`)).status).toBe(500);
    expect(exists(made, id)).toBe(true);
  },
  lostAnswer: async (id) => {
    const made = await bench();
    expect((await made.deploy(id)).failure).toBe('lost');
    expect(exists(made, id)).toBe(true);
    expect((await made.deploy(id)).status).toBe(409);
  },
  throttled: async (id) => {
    const { deploy } = await bench();
    const first = await deploy(id);
    expect([first.status, first.headers['retry-after']]).toEqual([429, '1']);
    expect((await deploy(id)).status).toBe(200);
  },
  html: async (id) => {
    const { deploy } = await bench();
    const first = await deploy(id);
    expect([first.status, first.headers['content-type']]).toEqual([502, 'text/html']);
    expect((await deploy(id)).status).toBe(200);
  },
  slow: async (id) => {
    const { deploy, clock, simulator } = await bench({ provisionMs: [1000, 1000] });
    await deploy(id);
    clock.advance(9_999);
    expect(clusterNamed(simulator, id)?.status).toBe('starting');
    clock.advance(1);
    expect(clusterNamed(simulator, id)?.status).toBe('running');
  },
  stuck: async (id) => {
    const { deploy, clock, simulator } = await bench();
    await deploy(id);
    clock.advance(365 * 24 * 3_600_000);
    expect(clusterNamed(simulator, id)?.status).toBe('starting');
  },
  vanish: async (id) => {
    const made = await bench();
    await made.deploy(id);
    made.clock.advance(9_999);
    expect(exists(made, id)).toBe(true);
    made.clock.advance(1);
    expect(exists(made, id)).toBe(false);
  },
  replaced: async (id) => {
    const { deploy, clock, simulator } = await bench();
    await deploy(id);
    const before = clusterNamed(simulator, id)?.createdAt;
    clock.advance(10_000);
    const after = clusterNamed(simulator, id);
    expect([after?.status, after?.createdAt === before]).toEqual(['running', false]);
    clock.advance(60_000);
    expect(clusterNamed(simulator, id)?.createdAt).toBe(after?.createdAt);
  },
  changedLogin: async (id) => {
    const { deploy, simulator } = await bench();
    await deploy(id);
    const send = sender(simulator.transport, `https://${addressOf(simulator, id)}`);
    expect((await send('POST', '/v1/signin', { body: { username: 'admin', password: 'password' } })).status).toBe(401);
  },
  serverDown: async (id) => {
    const { deploy, simulator } = await bench();
    await deploy(id);
    expect(clusterNamed(simulator, id)?.servers[0]?.status).toBe('running');
    const send = sender(simulator.transport, `https://${addressOf(simulator, id)}`);
    expect((await send('GET', '/health')).failure).toBe('unreachable');
  },
  serverPending: async (id) => {
    const { deploy, simulator, clock } = await bench();
    await deploy(id);
    clock.advance(3_600_000);
    expect(clusterNamed(simulator, id)).toMatchObject({ status: 'running', servers: [{ status: 'pending' }] });
  },
  oddStatus: async (id) => {
    const { ask, deploy } = await bench();
    await deploy(id);
    expect((await ask('GET', `/${id}`)).json()['status']).toBe('maintaining');
    await ask('POST', `/${id}/suspend`);
    expect((await ask('GET', `/${id}`)).json()['status']).toBe('suspended');
  },
};

describe('a sentinel', () => {
  it.each(Object.entries(SENTINELS))('%s', async (name, { part }) => {
    await behaviours[name as SentinelName](`orders${part}`);
    await behaviours[name as SentinelName](`my${part}-one`);
  });

  it.each(['failing-deploy', 'orders-slower', 'slowly', 'stuck'])('is found in %j only at word ends', (id) => {
    const seen = (Object.keys(SENTINELS) as SentinelName[]).filter((name) => hasSentinel(id, name));
    expect(seen).toEqual(id === 'stuck' ? ['stuck'] : []);
  });
});
